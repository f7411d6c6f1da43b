/* SPDX-License-Identifier: Apache-2.0 */
/* `info os`: writes tables of debug/ as XML documents that gdb prints. */
#include "gdbstub/rsp_priv.h"

static void put_column(struct rsp *rsp, const char *name, const char *text)
{
    lw_printf(&rsp->osdata.sink, "<column name=\"%s\">", name);
    rsp_put_xml(&rsp->osdata.sink, text, strlen(text));
    lw_put(&rsp->osdata.sink, "</column>");
}

struct table_context {
    struct rsp *rsp;
    const struct dbg_table *table;
    unsigned rows;
};

static void put_row(void *context, const char *const *cells, unsigned count)
{
    struct table_context *c = context;

    c->rows++;
    lw_put(&c->rsp->osdata.sink, "<item>");
    for (unsigned i = 0; i < count && c->table->columns[i] != NULL; i++)
        put_column(c->rsp, c->table->columns[i], cells[i]);
    lw_put(&c->rsp->osdata.sink, "</item>\n");
}

/* Adds a row "none" to an empty table, because gdb takes the columns from the first row and prints nothing for a table
 * without rows. */
static void put_none(struct table_context *context)
{
    const char *cells[16] = {"none"};
    unsigned count = 1;

    for (; count < LW_COUNT_OF(cells) && context->table->columns[count] != NULL; count++)
        cells[count] = "";
    put_row(context, cells, count);
}

/* Writes the table of tables, which `info os` without an operand prints. gdb does not print the column "Title". */
static void put_list(struct rsp *rsp)
{
    const struct dbg_table *table;

    for (unsigned i = 0; (table = dbg_table_at(i)) != NULL; i++) {
        lw_put(&rsp->osdata.sink, "<item>");
        put_column(rsp, "Type", table->name);
        put_column(rsp, "Description", table->summary);
        put_column(rsp, "Title", table->summary);
        lw_put(&rsp->osdata.sink, "</item>\n");
    }
}

static bool build(struct rsp *rsp, const char *name, size_t size)
{
    const struct dbg_table *table;
    unsigned i = 0;

    while ((table = dbg_table_at(i)) != NULL &&
           (strlen(table->name) != size || memcmp(table->name, name, size) != 0))
        i++;
    if (size != 0 && table == NULL)
        return false;
    lw_buffer_clear(&rsp->osdata);
    lw_printf(&rsp->osdata.sink,
              "<?xml version=\"1.0\"?>\n<!DOCTYPE osdata SYSTEM \"osdata.dtd\">\n"
              "<osdata type=\"%s\">\n",
              size == 0 ? "types" : table->name);
    if (size == 0) {
        put_list(rsp);
    } else {
        struct table_context context = {rsp, table, 0};

        dbg_table_rows(rsp->dbg, i, put_row, &context);
        if (context.rows == 0)
            put_none(&context);
    }
    lw_put(&rsp->osdata.sink, "</osdata>\n");
    return true;
}

void rsp_do_osdata_read(struct rsp *rsp, const struct rsp_args *args)
{
    if (!rsp->lldb)
        rsp_focus_on(rsp, rsp_chosen(rsp)); /* moves the focus to the user's thread, because some tables describe one warp */
    /* gdb reads the table in pieces. The table is built when gdb requests its first piece. */
    if ((args->n[0] == 0 || rsp->osdata.text == NULL) &&
        !build(rsp, args->rest, args->rest_size))
        rsp_put_error(&rsp->reply, "there is no table of this name: `info os` lists the tables");
    else
        rsp_put_piece(rsp, rsp->osdata.text, rsp->osdata.size, args->n[0], args->n[1]);
}
