/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's graphs: their description in the language of Graphviz. The graph of a child node or of a conditional node is a cluster of its
 * own, to whose roots dashed edges lead. */
#include "runtime/cuda/cu_graph_priv.h"

#include <stdio.h>

/** What is printed in addition to types and names, as in enum CUgraphDebugDot_flags. */
enum {
    VERBOSE = 1, KERNELS = 1 << 2, COPIES = 1 << 3, FILLS = 1 << 4, HOSTS = 1 << 5, EVENTS = 1 << 6, ATTRIBUTES = 1 << 9,
    HANDLES = 1 << 10, ALLOCATIONS = 1 << 11, FREES = 1 << 12, BATCHES = 1 << 13, CONDITIONS = 1 << 15, ALL_FLAGS = (1 << 16) - 1
};
struct writer {
    FILE *file;
    unsigned flags;
    unsigned graphs; /* number of graphs that have a number */
};

/** Prints text in a label. */
static void print_text(FILE *file, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', file);
        fputc(*text, file);
    }
}

static const char *name_of(enum cu_work_type type)
{
    static const char *const names[] = {"KERNEL", "MEMCPY", "MEMSET", "HOST", "GRAPH", "EMPTY", "WAIT_EVENT", "EVENT_RECORD", "", "",
                                        "MEM_ALLOC", "MEM_FREE", "BATCH_MEM_OP", "CONDITIONAL"};

    return (unsigned)type < sizeof names / sizeof names[0] ? names[type] : "";
}

static void print_kernel(const struct writer *w, const struct cu_work *work)
{
    const struct cudaKernelNodeParams *k = &work->kernel;
    struct cu_function *f;

    fputs("\\n", w->file);
    if (cu_function_get(k->stub, &f) == cudaSuccess)
        print_text(w->file, f->name);
    if ((w->flags & KERNELS) != 0)
        fprintf(w->file, "\\ngridDim (%u, %u, %u)\\nblockDim (%u, %u, %u)\\nsharedMemBytes %u", k->grid.x, k->grid.y, k->grid.z, k->block.x,
                k->block.y, k->block.z, k->shared_bytes);
    if ((w->flags & ATTRIBUTES) != 0)
        fprintf(w->file, "\\ncooperative %d", cu_attributes_cooperate(&work->attributes));
    if ((w->flags & HANDLES) != 0)
        fprintf(w->file, "\\nfunc %p", k->stub);
}

static void print_copy(const struct writer *w, const struct cudaMemcpy3DParms *c)
{
    static const char *const kinds[] = {"HtoH", "HtoD", "DtoH", "DtoD", "default"};

    fprintf(w->file, "\\n%s", c->kind >= HOST_TO_HOST && c->kind <= DEFAULT ? kinds[c->kind] : "");
    if ((w->flags & COPIES) != 0)
        fprintf(w->file, "\\nsrcArray %p\\nsrcPtr %p pitch %zu\\ndstArray %p\\ndstPtr %p pitch %zu\\nextent (%zu, %zu, %zu)",
                (const void *)c->from_array, c->from.pointer, c->from.pitch, (const void *)c->to_array, c->to.pointer, c->to.pitch,
                c->extent.width, c->extent.height, c->extent.depth);
}

/** Prints what the flags ask for of a node's work. */
static void print_work(const struct writer *w, const struct cu_work *work)
{
    const unsigned flags = w->flags;

    switch (work->type) {
    case CU_KERNEL: print_kernel(w, work); break;
    case CU_COPY: print_copy(w, &work->copy); break;
    case CU_FILL:
        if ((flags & FILLS) != 0)
            fprintf(w->file, "\\ndst %p pitch %zu\\nvalue %u\\nelementSize %u\\nwidth %zu\\nheight %zu", work->fill.to, work->fill.pitch,
                    work->fill.value, work->fill.element_bytes, work->fill.width, work->fill.height);
        break;
    case CU_HOST:
        if ((flags & HOSTS) != 0)
            fprintf(w->file, "\\nfn %p\\nuserData %p", (void *)(uintptr_t)work->host.function, work->host.user);
        break;
    case CU_WAIT:
    case CU_RECORD:
        if ((flags & EVENTS) != 0)
            fprintf(w->file, "\\nevent %p", (void *)work->event);
        break;
    case CU_ALLOCATE:
        if ((flags & ALLOCATIONS) != 0)
            fprintf(w->file, "\\ndptr 0x%llx", (unsigned long long)cu_graph_memory_address(work->memory));
        break;
    case CU_FREE:
        if ((flags & FREES) != 0)
            fprintf(w->file, "\\ndptr %p", work->pointer);
        break;
    case CU_BATCH:
        for (unsigned i = 0; i < work->batch.count && (flags & BATCHES) != 0; i++)
            fprintf(w->file, "\\noperation %d address 0x%llx value 0x%llx flags 0x%x", work->batch.list[i].type, work->batch.list[i].address,
                    (unsigned long long)work->batch.list[i].value, work->batch.list[i].flags);
        break;
    case CU_CONDITION:
        if ((flags & CONDITIONS) != 0)
            fprintf(w->file, "\\ntype %s\\nsize %u", work->choice.type == 0 ? "if" : work->choice.type == 1 ? "while" : "switch",
                    work->choice.count);
        break;
    default: break;
    }
}

/** Returns the index of a node in its graph. */
static size_t index_in_graph(const struct cu_node *n)
{
    size_t i = 0;

    while (i < n->graph->nodes.count && n->graph->nodes.node[i] != n)
        i++;
    return i;
}

static void print_graph(struct writer *w, const struct cu_graph *graph);

/** Prints the graphs of a node, and edges to their roots. @name: number of the node's graph; @index: that of the node. */
static void print_inner(struct writer *w, const struct cu_node *n, unsigned name, size_t index)
{
    struct cu_graph *const *inner;
    const size_t count = cu_work_graphs(&n->work, &inner);

    for (size_t i = 0; i < count; i++) {
        const unsigned number = w->graphs + 1; /* that print_graph() gives to the graph */

        print_graph(w, inner[i]);
        for (size_t k = 0; k < inner[i]->nodes.count; k++)
            if (inner[i]->nodes.node[k]->needs.count == 0)
                fprintf(w->file, "\"graph_%u_node_%zu\" -> \"graph_%u_node_%zu\" [style=\"dashed\"];\n", name, index, number, k);
    }
}

static void print_graph(struct writer *w, const struct cu_graph *graph)
{
    const unsigned name = ++w->graphs;

    fprintf(w->file, "subgraph cluster_%u {\nlabel=\"graph_%u\";\n", name, name);
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const struct cu_node *n = graph->nodes.node[i];

        fprintf(w->file, "\"graph_%u_node_%zu\" [shape=\"%s\" label=\"%zu\\n%s", name, i, n->work.type == CU_KERNEL ? "octagon" : "rectangle", i,
                name_of(n->work.type));
        print_work(w, &n->work);
        if ((w->flags & HANDLES) != 0)
            fprintf(w->file, "\\nnode %p", (const void *)n);
        fputs("\"];\n", w->file);
    }
    for (size_t i = 0; i < graph->nodes.count; i++)
        for (size_t k = 0; k < graph->nodes.node[i]->needs.count; k++)
            fprintf(w->file, "\"graph_%u_node_%zu\" -> \"graph_%u_node_%zu\";\n", name, index_in_graph(graph->nodes.node[i]->needs.node[k]),
                    name, i);
    fputs("}\n", w->file);
    for (size_t i = 0; i < graph->nodes.count; i++)
        print_inner(w, graph->nodes.node[i], name, i);
}

CU_API cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned flags)
{
    struct writer w = {.flags = (flags & VERBOSE) != 0 ? ALL_FLAGS : flags};
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    if (path != NULL && (flags & ~(unsigned)ALL_FLAGS) == 0 && cu_is_graph(graph)) {
        w.file = fopen(path, "w");
        error = w.file != NULL ? cudaSuccess : cudaErrorOperatingSystem;
    }
    if (error == cudaSuccess) {
        fputs("digraph dot {\n", w.file);
        print_graph(&w, graph);
        fputs("}\n", w.file);
        if (ferror(w.file))
            error = cudaErrorOperatingSystem;
        if (fclose(w.file) != 0)
            error = cudaErrorOperatingSystem;
    }
    rt_unlock();
    return cu_return(error);
}
