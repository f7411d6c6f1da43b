/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a launch file on a machine: creates buffers, lays out arguments, and carries out steps. */
#include "launch/launch_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { CHUNK_BYTES = 1 << 20 };

/* Position in a list of steps. */
struct frame {
    const struct lnc_step *repeat, *next; /* the repeat that has the list (NULL for the outermost list), and its next step */
    unsigned index;     /* index of the step that was started last */
    uint64_t iteration; /* number of completed iterations of the repeat */
};

struct lnc_session {
    struct lnc_file *file;
    struct emu_machine *machine;
    struct lw_sink *print;
    uint64_t seed;       /* number that is added to the seeds of random contents */
    struct lnc_watch watch;
    struct isa_object *object;
    struct emu_program *program;
    uint64_t *addresses; /* address of each buffer; a swap exchanges two addresses */
    uint64_t *handles;   /* handle of each texture: address of its descriptor */
    uint8_t *chunk, *other_chunk;
    struct frame frames[LNC_MAX_NEST + 1];
    unsigned depth;
    bool begun, done;
    const struct emu_grid *grid; /* the grid that was launched last */
    struct lnc_result result;
};

static enum lw_status at(const struct lnc_session *session, const struct lw_yaml *node,
                         struct lw_error *err)
{
    return lw_error_prefix(err, "%s:%u", lw_yaml_name(session->file->doc),
                           node->key != NULL ? node->key_line : node->line);
}

/* ---- creation ----------------------------------------------------------------------- */

/* Writes @count elements of @init to memory at @address. */
static enum lw_status write_init(struct lnc_session *session, const struct lnc_init *init,
                                 const struct lnc_type *type, uint64_t address, uint64_t count,
                                 struct lw_error *err)
{
    const uint64_t step = CHUNK_BYTES / type->bytes;

    for (uint64_t done = 0; done < count; done += step) {
        uint64_t n = count - done < step ? count - done : step;
        enum lw_status status;

        lnc_init_make(init, type, session->seed, done, n, session->chunk);
        status = emu_global_write(session->machine, address + done * type->bytes,
                                  session->chunk, n * type->bytes, err);
        if (status != LW_OK)
            return status;
    }
    return LW_OK;
}

/* Finds the program variable whose memory is buffer @b. */
static enum lw_status find_variable(const struct lnc_session *session, const struct lnc_buffer *b,
                                    const struct isa_variable **variable, struct lw_error *err)
{
    const struct lw_yaml *node = lw_yaml_get(b->node, "variable");
    unsigned count;
    const struct isa_variable *v = lnc_variable_find(session->object, b->variable, &count);

    if (v == NULL)
        return lw_yaml_fail(session->file->doc, node, err,
                            count == 0 ? "variable: the program has no global or constant variable \"%.60s\""
                                       : "variable: several variables are called \"%.60s\": give the mangled name, as "
                                         "the compiler writes it",
                            b->variable);
    if (b->count * b->type->bytes > v->size_bytes)
        return lw_yaml_fail(session->file->doc, b->node, err,
                            "buffer %.60s has %" PRIu64 " bytes, more than the %" PRIu64 " byte%s of variable %.60s",
                            b->name, b->count * b->type->bytes, (uint64_t)v->size_bytes, v->size_bytes == 1 ? "" : "s",
                            b->variable);
    *variable = v;
    return LW_OK;
}

/* Gets the addresses of buffers that are program variables, after the program was loaded, and writes the contents that the
 * launch file gives for them. */
static enum lw_status fill_variables(struct lnc_session *session, struct lw_error *err)
{
    for (const struct lnc_buffer *b = session->file->buffers; b != NULL; b = b->next) {
        uint64_t *address = &session->addresses[b->index];
        const struct isa_variable *variable;
        enum lw_status status;

        if (b->variable == NULL)
            continue;
        status = find_variable(session, b, &variable, err);
        if (status != LW_OK)
            return status;
        *address = emu_program_variable(session->program, variable->name, NULL);
        if (b->init.kind != LNC_ZERO)
            status = write_init(session, &b->init, b->type, *address, b->count, err);
        if (status != LW_OK)
            return at(session, b->node, err);
    }
    return LW_OK;
}

static enum lw_status make_buffer(struct lnc_session *session, const struct lnc_buffer *b, struct lw_error *err)
{
    uint64_t *address = &session->addresses[b->index];
    const uint64_t bytes = b->count * b->type->bytes;
    const unsigned flags = (b->read_only ? EMU_ALLOC_READ_ONLY : 0u) | (b->heap ? EMU_ALLOC_HEAP : 0u);
    const struct isa_variable *variable;
    enum lw_status status;

    if (b->variable != NULL) /* only checks the variable, before the program is loaded */
        return find_variable(session, b, &variable, err);
    *address = b->address;
    status = b->address != 0 ? emu_alloc_at(session->machine, b->address, bytes, b->name, flags, err)
                             : emu_alloc(session->machine, bytes, b->name, flags, address, err);
    /* New memory is zeroed. */
    if (status == LW_OK && b->init.kind != LNC_ZERO && !(b->init.kind == LNC_CONSTANT && b->init.constant == 0))
        status = write_init(session, &b->init, b->type, *address, b->count, err);
    return status == LW_OK ? LW_OK : at(session, b->node, err);
}

/* Creates the buffers: first those whose address the launch file gives, so that no other allocation takes their place. */
static enum lw_status make_buffers(struct lnc_session *session, struct lw_error *err)
{
    const struct lnc_file *file = session->file;
    enum lw_status status = LW_OK;

    for (const struct lnc_buffer *b = file->buffers; b != NULL && status == LW_OK; b = b->next)
        if (b->address != 0)
            status = make_buffer(session, b, err);
    if (status == LW_OK && file->next_address != 0) {
        status = emu_alloc_from(session->machine, file->next_address, err);
        if (status != LW_OK)
            return at(session, lw_yaml_get(file->addresses, "next"), err);
    }
    for (const struct lnc_buffer *b = file->buffers; b != NULL && status == LW_OK; b = b->next)
        if (b->address == 0)
            status = make_buffer(session, b, err);
    return status;
}

enum lw_status lnc_session_create(struct lnc_file *file, struct emu_machine *machine,
                                  const struct lnc_options *options, struct lnc_session **out,
                                  struct lw_error *err)
{
    struct lnc_session *session = calloc(1, sizeof *session);
    enum lw_status status = LW_OK;

    if (session == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for a session");
    session->file = file;
    session->machine = machine;
    session->print = options != NULL ? options->print : NULL;
    session->seed = options != NULL ? options->seed : 0;
    session->addresses = calloc(file->buffer_count + 1, sizeof *session->addresses);
    session->handles = calloc(file->texture_count + 1, sizeof *session->handles);
    session->chunk = malloc(CHUNK_BYTES);
    session->other_chunk = malloc(CHUNK_BYTES);
    if (session->addresses == NULL || session->handles == NULL || session->chunk == NULL || session->other_chunk == NULL) {
        status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for a session");
        goto cleanup;
    }
    session->object = file->object;
    file->object = NULL;
    if (session->object == NULL)
        status = lnc_source_load(file, options, &session->object, err);
    if (status == LW_OK)
        status = lnc_steps_bind(file, options, session->object, file->steps, err);
    if (status == LW_OK)
        status = make_buffers(session, err);
    if (status == LW_OK)
        status = lnc_textures_make(file, machine, session->object, session->handles, err);
    /* The program is loaded last, because the object must then remain valid as long as the machine. */
    if (status == LW_OK) {
        status = emu_program_load_at(machine, session->object, &file->layout, &session->program, err);
        if (status == LW_ERANGE && file->addresses != NULL)
            at(session, file->addresses, err);
    }
    if (status == LW_OK)
        status = lnc_textures_find(file, session->program, session->handles, err);
    if (status == LW_OK)
        status = fill_variables(session, err);
    session->frames[0] = (struct frame){.next = file->steps};
    if (status == LW_OK) {
        *out = session;
        session = NULL;
    } else {
        lnc_direct_location(file, err);
    }
cleanup:
    lnc_session_destroy(session);
    return status;
}

void lnc_session_destroy(struct lnc_session *session)
{
    if (session == NULL)
        return;
    isa_object_destroy(session->object);
    free(session->addresses);
    free(session->handles);
    free(session->chunk);
    free(session->other_chunk);
    free(session);
}

const struct isa_object *lnc_session_object(const struct lnc_session *session)
{
    return session->object;
}

const struct lnc_file *lnc_session_file(const struct lnc_session *session)
{
    return session->file;
}

const struct emu_machine *lnc_session_machine(const struct lnc_session *session)
{
    return session->machine;
}

uint64_t lnc_session_seed(const struct lnc_session *session)
{
    return session->seed;
}

/* ---- steps ----------------------------------------------------------------------------- */

static uint64_t iteration_value(const struct lnc_arg *arg, uint64_t iteration)
{
    uint64_t value = (uint64_t)arg->start, power = (uint64_t)arg->factor;

    for (uint64_t n = iteration; n != 0; n >>= 1, power *= power)
        if (n & 1)
            value *= power;
    return value + (uint64_t)arg->step * iteration;
}

static enum lw_status launch(struct lnc_session *session, const struct lnc_step *step,
                             struct lw_error *err)
{
    const struct isa_function *kernel = step->kernel;
    struct emu_launch l = {
        .program = session->program,
        .kernel = emu_program_kernel(session->program, step->kernel->name),
        .work_dim = step->work_dim};
    uint8_t *params = calloc(1, kernel->param_bytes + 1u);
    uint64_t *regions = malloc((kernel->param_count + 1u) * sizeof *regions); /* by parameter, see lnc_local_layout() */
    /* Dynamic shared memory begins after static shared memory, aligned to 16 bytes. Dynamic shared memory consists of the
     * bytes that `shared` requests, for an extern array, and a piece for each argument {local: bytes}. */
    uint64_t static_end = ((uint64_t)kernel->shared_bytes + 15) & ~UINT64_C(15);
    uint64_t shared = static_end + step->shared_bytes;
    struct emu_grid *grid = NULL;
    enum lw_status status;

    if (params == NULL || regions == NULL) {
        status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for %u bytes of parameters", kernel->param_bytes);
        goto cleanup;
    }
    for (unsigned i = 0; i < kernel->param_count; i++)
        regions[i] = LNC_NO_REGION;
    memcpy(l.grid, step->grid, sizeof l.grid);
    memcpy(l.block, step->block, sizeof l.block);
    memcpy(l.offset, step->offset, sizeof l.offset);
    for (unsigned i = 0; i < step->arg_count; i++) {
        const struct lnc_arg *arg = &step->args[i];
        const struct isa_param *param = &kernel->params[i];
        uint64_t bits = 0;

        if ((uint64_t)param->offset + param->size_bytes > kernel->param_bytes) {
            status = lw_yaml_fail(session->file->doc, arg->node, err,
                                  "parameter %u of %s is outside the %u bytes of its parameters", i + 1,
                                  step->entry, kernel->param_bytes);
            goto cleanup;
        }
        if (arg->kind == LNC_ARG_TYPED) {
            memcpy(params + param->offset, arg->data, arg->size_bytes);
            for (const struct lnc_hole *h = arg->holes; h != NULL; h = h->next)
                lw_put64(params + param->offset + h->at,
                         h->texture != NULL
                             ? session->handles[h->texture->index]
                             : session->addresses[h->buffer->index] + h->offset_bytes);
            continue;
        }
        if (arg->kind == LNC_ARG_BUFFER) {
            bits = session->addresses[arg->buffer->index] + arg->offset_bytes;
        } else if (arg->kind == LNC_ARG_TEXTURE) {
            bits = session->handles[arg->texture->index];
        } else if (arg->kind == LNC_ARG_LOCAL) {
            regions[i] = arg->local_bytes;
            continue;
        } else if (arg->kind == LNC_ARG_ITERATION) {
            bits = iteration_value(arg, session->frames[session->depth].iteration);
        } else {
            (void)lnc_number_bits(arg->text, param, &bits); /* The call cannot fail: lnc_steps_bind() has checked the
                                                             * argument. */
        }
        memcpy(params + param->offset, &bits, param->size_bytes < 8 ? param->size_bytes : 8);
    }
    shared = lnc_local_layout(kernel, regions, shared, params);
    if (shared - static_end > UINT32_MAX) {
        status = lw_yaml_fail(session->file->doc, step->node, err,
                              "launch: %" PRIu64 " bytes of shared memory are too many: reduce the key shared", shared);
        goto cleanup;
    }
    l.dynamic_shared_bytes = (uint32_t)(shared - static_end);
    l.params = params;
    status = lnc_textures_bind(session->file, session->machine, session->handles,
                               session->addresses, err);
    if (status != LW_OK)
        goto cleanup;
    status = emu_grid_launch(session->machine, &l, &grid, err);
    if (status != LW_OK) {
        at(session, step->node, err);
        goto cleanup;
    }
    grid->stream = step->stream;
    session->grid = grid;
    session->result.launches++;
cleanup:
    free(regions);
    free(params);
    return status;
}

static enum lw_status copy(struct lnc_session *session, const struct lnc_step *step,
                           struct lw_error *err)
{
    const unsigned bytes = step->buffer->type->bytes;
    uint64_t to = session->addresses[step->buffer->index] + step->first * bytes;
    uint64_t from = session->addresses[step->other->index] + step->other_first * bytes;
    uint64_t size = step->count * bytes;

    /* If a buffer is copied to itself, the two ranges may overlap. Pieces are therefore copied from the last to the first if
     * the destination is after the source. */
    for (uint64_t done = 0; done < size;) {
        uint64_t n = size - done < CHUNK_BYTES ? size - done : CHUNK_BYTES;
        uint64_t offset = to > from ? size - done - n : done;
        enum lw_status status = emu_global_copy(session->machine, to + offset, from + offset, n, err);

        if (status != LW_OK)
            return status;
        done += n;
    }
    return LW_OK;
}

/** Calls the observer's callback for the host step at @node. */
static void notify_step(const struct lnc_session *session, const struct lw_yaml *node)
{
    const bool direct = session->file->place_count != 0; /* a launch by options has no lines that could be shown */

    if (session->watch.step != NULL)
        session->watch.step(session->watch.context, direct ? session->file->source : lw_yaml_name(session->file->doc),
                            direct ? 0 : node->key != NULL ? node->key_line : node->line);
}

/** Returns the launch file, and sets *@line to the line of a check. For a launch by options, returns the option from which
 *  the check was made, and sets *@line to 0. */
static const char *check_location(const struct lnc_session *session, const struct lw_yaml *node, uint32_t *line)
{
    const struct lnc_file *file = session->file;
    const bool direct = node->key_line != 0 && node->key_line <= file->place_count;

    *line = direct ? 0 : node->key_line;
    return direct ? file->places[node->key_line - 1] : lw_yaml_name(file->doc);
}

/** Counts and reports the check of @step. @failed: the message of a failed check, which is freed; NULL: the check passed. */
static void checked(struct lnc_session *session, const struct lnc_step *step,
                    struct lw_buffer *failed)
{
    uint32_t line;
    const char *file = check_location(session, step->node, &line);
    const char *text = failed == NULL ? NULL : failed->text != NULL ? failed->text : "";

    session->result.checks++;
    session->result.failed_checks += failed != NULL;
    if (failed != NULL)
        lw_printf(session->print, line != 0 ? "%s:%u: %s\n" : "%s: %.0u%s\n", file, line, text);
    if (session->watch.checked != NULL)
        session->watch.checked(session->watch.context, file, line, text);
    if (failed != NULL)
        lw_buffer_fini(failed);
}

static enum lw_status check(struct lnc_session *session, const struct lnc_step *step,
                            struct lw_error *err)
{
    const struct lnc_type *type = step->buffer->type;
    uint64_t address = session->addresses[step->buffer->index] + step->first * type->bytes;
    uint64_t other = step->other != NULL ? session->addresses[step->other->index] +
                                               step->other_first * type->bytes
                                         : 0;
    struct lnc_difference difference = {0};
    const uint64_t room = CHUNK_BYTES / type->bytes;
    char got[40], want[40];

    for (uint64_t done = 0; done < step->count; done += room) {
        uint64_t n = step->count - done < room ? step->count - done : room;
        uint64_t at_byte = done * type->bytes, size = n * type->bytes;
        enum lw_status status =
            emu_global_read(session->machine, address + at_byte, session->chunk, size, err);

        if (status == LW_OK && step->other != NULL)
            status = emu_global_read(session->machine, other + at_byte, session->other_chunk,
                                     size, err);
        else if (status == LW_OK)
            lnc_init_make(&step->value, type, session->seed, done, n, session->other_chunk);
        if (status != LW_OK)
            return status;
        lnc_compare(type, session->chunk, session->other_chunk, n, step->first + done,
                    step->absolute, step->relative, &difference);
    }
    if (difference.count == 0) {
        checked(session, step, NULL);
        return LW_OK;
    }
    struct lw_buffer text;
    lw_buffer_init(&text);
    lnc_value_format(type, difference.got, got, sizeof got);
    lnc_value_format(type, difference.want, want, sizeof want);
    lw_printf(&text.sink,
              "check failed: %s[%" PRIu64 "] is %s, expected %s; %" PRIu64 " of %" PRIu64
              " elements differ",
              step->buffer->name, difference.first, got, want, difference.count, step->count);
    if (step->absolute != 0 || step->relative != 0)
        lw_printf(&text.sink, " by more than %g + %g * |expected|", step->absolute, step->relative);
    checked(session, step, &text);
    return LW_OK;
}

/* Ends an iteration of a repeat, and starts the next iteration or ends the repeat. */
static enum lw_status end_round(struct lnc_session *session, struct lw_error *err)
{
    struct frame *frame = &session->frames[session->depth];
    const struct lnc_step *repeat = frame->repeat;

    frame->iteration++;
    if (repeat->until != NULL) {
        const struct lnc_type *type = repeat->until->type;
        char got[40], want[40];
        uint64_t bits = 0;
        enum lw_status status =
            emu_global_read(session->machine,
                            session->addresses[repeat->until->index] +
                                repeat->until_index * type->bytes,
                            &bits, type->bytes, err);

        if (status != LW_OK)
            return status;
        /* Floats are compared as numbers, so that -0.0 equals 0. For a NaN the bits must be equal. */
        if (bits == repeat->until_bits ||
            (type->kind == LNC_FLOAT &&
             lnc_value_double(type, bits) == lnc_value_double(type, repeat->until_bits))) {
            session->depth--;
            return LW_OK;
        }
        if (frame->iteration >= repeat->repeat_count) {
            struct lw_buffer text;

            lw_buffer_init(&text);
            lnc_value_format(type, bits, got, sizeof got);
            lnc_value_format(type, repeat->until_bits, want, sizeof want);
            lw_printf(&text.sink, "until failed: %s[%" PRIu64 "] is still %s, expected %s, after %" PRIu64 " iteration%s", repeat->until->name, repeat->until_index, got, want,
                      frame->iteration, frame->iteration == 1 ? "" : "s");
            checked(session, repeat, &text);
        }
    }
    if (frame->iteration >= repeat->repeat_count) {
        session->depth--;
        return LW_OK;
    }
    frame->next = repeat->steps;
    return LW_OK;
}

static enum lw_status carry_out(struct lnc_session *session, const struct lnc_step *step,
                                struct lw_error *err)
{
    notify_step(session, step->node);
    switch (step->kind) {
    case LNC_LAUNCH:
        return launch(session, step, err);
    case LNC_COPY:
        return copy(session, step, err);
    case LNC_FILL:
        return write_init(session, &step->value, step->buffer->type,
                          session->addresses[step->buffer->index] +
                              step->first * step->buffer->type->bytes,
                          step->count, err);
    case LNC_SWAP: {
        uint64_t *a = &session->addresses[step->buffer->index];
        uint64_t *b = &session->addresses[step->other->index];
        uint64_t previous = *a;

        *a = *b;
        *b = previous;
        return LW_OK;
    }
    case LNC_CHECK:
        return check(session, step, err);
    case LNC_REPEAT:
        session->frames[++session->depth] =
            (struct frame){.repeat = step, .next = step->steps};
        return LW_OK;
    }
    return LW_OK;
}

/** Returns true if the step after @step is a launch that is queued together with it, because both have a stream. */
static bool goes_on(const struct lnc_step *step)
{
    return step->has_stream && step->next != NULL && step->next->kind == LNC_LAUNCH &&
           step->next->has_stream;
}

enum lw_status lnc_session_next(struct lnc_session *session, enum lnc_state *state,
                                struct lw_error *err)
{
    session->begun = true;
    session->grid = NULL;
    for (;;) {
        struct frame *frame = &session->frames[session->depth];
        const struct lnc_step *step = frame->next;
        enum lw_status status;

        if (step == NULL && session->depth == 0) {
            session->done = true;
            *state = LNC_DONE;
            return LW_OK;
        }
        if (step == NULL) {
            status = end_round(session, err);
        } else {
            frame->next = step->next;
            frame->index = step->index;
            status = carry_out(session, step, err);
        }
        if (status != LW_OK)
            return status;
        if (step != NULL && step->kind == LNC_LAUNCH && !goes_on(step)) {
            *state = LNC_LAUNCHED;
            return LW_OK;
        }
    }
}

/* ---- queries ------------------------------------------------------------------------------ */

void lnc_session_result(const struct lnc_session *session, struct lnc_result *out)
{
    *out = session->result;
}

double lnc_session_progress(const struct lnc_session *session)
{
    double part = 0;

    if (session->done)
        return 1;
    if (!session->begun)
        return 0;
    if (session->grid != NULL && session->grid->block_count != 0)
        part = (double)session->grid->blocks_ended / (double)session->grid->block_count;
    for (unsigned d = session->depth + 1; d-- > 0;) {
        const struct frame *frame = &session->frames[d];
        unsigned count = d != 0 ? frame->repeat->step_count : session->file->step_count;

        part = (frame->index + part) / count;
        if (d != 0)
            part = ((double)frame->iteration + part) / (double)frame->repeat->repeat_count;
    }
    return part < 0 ? 0 : part > 1 ? 1 : part;
}

static const struct lnc_buffer *find(const struct lnc_session *session, const char *name)
{
    for (const struct lnc_buffer *b = session->file->buffers; b != NULL; b = b->next)
        if (strcmp(b->name, name) == 0)
            return b;
    return NULL;
}

bool lnc_session_buffer(const struct lnc_session *session, const char *name,
                        uint64_t *address, uint64_t *size_bytes)
{
    const struct lnc_buffer *b = find(session, name);

    if (b == NULL)
        return false;
    *address = session->addresses[b->index];
    *size_bytes = b->count * b->type->bytes;
    return true;
}

void lnc_session_watch(struct lnc_session *session, struct lnc_watch watch)
{
    session->watch = watch;
}

bool lnc_session_unfilled(const struct lnc_session *session, unsigned index, uint64_t *address,
                          uint64_t *size_bytes)
{
    for (const struct lnc_buffer *b = session->file->buffers; b != NULL; b = b->next) {
        if (b->variable != NULL || b->init.kind != LNC_ZERO || index-- != 0)
            continue;
        *address = session->addresses[b->index];
        *size_bytes = b->count * b->type->bytes;
        return true;
    }
    return false;
}

/** Finds check @index in @step and the steps after it. If there are fewer checks, returns NULL and subtracts their
 *  number from *@index. */
static const struct lnc_step *find_check(const struct lnc_step *step, unsigned *index)
{
    for (; step != NULL; step = step->next) {
        const struct lnc_step *in = step->kind == LNC_REPEAT ? find_check(step->steps, index) : NULL;

        if (in != NULL)
            return in;
        if (step->kind == LNC_CHECK && (*index)-- == 0)
            return step;
    }
    return NULL;
}

bool lnc_session_check(const struct lnc_session *session, unsigned index, const char **file,
                       uint32_t *line)
{
    const struct lnc_step *step = find_check(session->file->steps, &index);

    if (step == NULL)
        return false;
    *file = check_location(session, step->node, line);
    return true;
}

static bool reads(const struct lnc_step *step)
{
    for (; step != NULL; step = step->next)
        if (step->kind == LNC_CHECK ||
            (step->kind == LNC_REPEAT && (step->until != NULL || reads(step->steps))))
            return true;
    return false;
}

bool lnc_session_reads(const struct lnc_session *session)
{
    return reads(session->file->steps);
}

const char *lnc_session_elements(const struct lnc_session *session, const char *name,
                                 uint64_t *count)
{
    const struct lnc_buffer *b = find(session, name);

    if (b == NULL)
        return NULL;
    *count = b->count;
    return b->type->name;
}

/* ---- the position in the steps, as bytes ------------------------------------------------------------------ */

/* Format of a saved position. All words have 64 bits, little-endian: hash of the launch file, begun, done,
 * depth; for each frame its index, the index of the next step (or the number of steps), and the iteration; numbers of
 * checks, failed checks and launches; sequence number of the grid; address of each buffer. */
enum { FIXED_WORDS = 8, FRAME_WORDS = 3 };

static size_t word_count(const struct lnc_session *session, unsigned depth)
{
    return FIXED_WORDS + FRAME_WORDS * (depth + 1u) + session->file->buffer_count;
}

enum lw_status lnc_session_save(const struct lnc_session *session, void **data, size_t *size,
                                struct lw_error *err)
{
    size_t bytes = word_count(session, session->depth) * 8;
    uint8_t *out = malloc(bytes), *at = out;
    uint64_t head[] = {session->file->hash, session->begun, session->done, session->depth};
    uint64_t tail[] = {session->result.checks, session->result.failed_checks,
                       session->result.launches,
                       session->grid != NULL ? session->grid->sequence : 0};

    if (out == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the state of a launch file's steps");
    for (unsigned i = 0; i < LW_COUNT_OF(head); i++, at += 8)
        lw_put64(at, head[i]);
    for (unsigned d = 0; d <= session->depth; d++) {
        const struct frame *f = &session->frames[d];
        unsigned count = d != 0 ? f->repeat->step_count : session->file->step_count;

        lw_put64(at, f->index);
        lw_put64(at + 8, f->next != NULL ? f->next->index : count);
        lw_put64(at + 16, f->iteration);
        at += 8 * FRAME_WORDS;
    }
    for (unsigned i = 0; i < LW_COUNT_OF(tail); i++, at += 8)
        lw_put64(at, tail[i]);
    for (unsigned i = 0; i < session->file->buffer_count; i++, at += 8)
        lw_put64(at, session->addresses[i]);
    *data = out;
    *size = bytes;
    return LW_OK;
}

static const struct lnc_step *step_at(const struct lnc_step *steps, uint64_t index)
{
    while (steps != NULL && steps->index != index)
        steps = steps->next;
    return steps;
}

/* Returns true if a live allocation begins at @address and has the size of a buffer of the launch file. */
static bool holds_buffer(const struct lnc_session *session, uint64_t address)
{
    struct emu_allocation a;
    bool inside;

    if (!emu_allocation_at(session->machine, address, &a, &inside) || a.address != address ||
        a.flags & EMU_ALLOC_FREED)
        return false;
    for (const struct lnc_buffer *b = session->file->buffers; b != NULL; b = b->next)
        if (b->count * b->type->bytes == a.size_bytes)
            return true;
    return false;
}

enum lw_status lnc_session_load(struct lnc_session *session, const void *data, size_t size,
                                struct lw_error *err)
{
    const uint8_t *at = data;
    struct lnc_session fresh = *session;
    const struct emu_grid *grid;
    uint64_t sequence;

    if (size < 8 * FIXED_WORDS || lw_get64(at + 24) > LNC_MAX_NEST ||
        size != 8 * word_count(session, (unsigned)lw_get64(at + 24)))
        return LW_FAIL(err, LW_EFORMAT, "the saved state is damaged: the position in the launch file is wrong");
    if (lw_get64(at) != session->file->hash)
        return LW_FAIL(err, LW_EINPUT, "%s is not the launch file with which the state was saved: use that file",
                       lw_yaml_name(session->file->doc));
    fresh.begun = lw_get64(at + 8) != 0;
    fresh.done = lw_get64(at + 16) != 0;
    fresh.depth = (unsigned)lw_get64(at + 24);
    at += 32;
    for (unsigned d = 0; d <= fresh.depth; d++, at += 8 * FRAME_WORDS) {
        const struct lnc_step *steps = session->file->steps, *outer = NULL;
        uint64_t index = lw_get64(at), next = lw_get64(at + 8), iteration = lw_get64(at + 16);
        unsigned count = session->file->step_count;

        if (d != 0) {
            const struct frame *f = &fresh.frames[d - 1];
            outer = step_at(d > 1 ? f->repeat->steps : session->file->steps, f->index);
            if (outer == NULL || outer->kind != LNC_REPEAT || iteration >= outer->repeat_count)
                return LW_FAIL(err, LW_EFORMAT, "the saved state is damaged: the position in the launch file is wrong");
            steps = outer->steps;
            count = outer->step_count;
        }
        if (next > count || index > count)
            return LW_FAIL(err, LW_EFORMAT, "the saved state is damaged: the position in the launch file is wrong");
        fresh.frames[d] = (struct frame){.repeat = outer, .next = step_at(steps, next),
                                         .index = (unsigned)index, .iteration = iteration};
    }
    fresh.result.checks = (unsigned)lw_get64(at);
    fresh.result.failed_checks = (unsigned)lw_get64(at + 8);
    fresh.result.launches = (unsigned)lw_get64(at + 16);
    sequence = lw_get64(at + 24);
    at += 32;
    for (unsigned i = 0; i < session->file->buffer_count; i++)
        if (!holds_buffer(session, lw_get64(at + 8 * i)))
            return LW_FAIL(err, LW_EFORMAT, "the saved state is damaged: the address of a buffer is wrong");
    for (unsigned i = 0; i < session->file->buffer_count; i++)
        session->addresses[i] = lw_get64(at + 8 * i);
    /* The grid is used only to show progress. If the grid has ended, the loop does not find it, and the pointer becomes
     * NULL. */
    for (grid = emu_grid_current(session->machine); grid != NULL; grid = grid->next)
        if (grid->sequence == sequence)
            break;
    fresh.grid = grid;
    *session = fresh;
    return LW_OK;
}

enum lw_status lnc_session_bytes(const struct lnc_session *session, const char *buffer, void **out, uint64_t *out_size,
                                 struct lw_error *err)
{
    const struct lnc_buffer *b = find(session, buffer);
    enum lw_status status;
    uint64_t size;
    void *data;

    if (b == NULL) {
        for (b = session->file->buffers; b != NULL; b = b->next)
            if (lw_suggest(buffer, &b->name, 1, sizeof b->name) != NULL)
                return LW_FAIL(err, LW_EUSAGE,
                               "there is no buffer \"%.60s\"; did you mean \"%s\"?", buffer,
                               b->name);
        return LW_FAIL(err, LW_EUSAGE, "there is no buffer \"%.60s\" in %s", buffer,
                       lw_yaml_name(session->file->doc));
    }
    notify_step(session, b->node);
    size = b->count * b->type->bytes;
    data = malloc(size);
    if (data == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the %" PRIu64 " bytes of %s", size, buffer);
    status = emu_global_read(session->machine, session->addresses[b->index], data, size, err);
    *out = status == LW_OK ? data : NULL;
    *out_size = size;
    if (status != LW_OK)
        free(data);
    return status;
}
