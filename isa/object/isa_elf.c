/* SPDX-License-Identifier: Apache-2.0 */
/* Object files: ELF64, read and written with libelf (docs/reference/object.md). The reader uses only .text and the .lanewise
 * sections; all other sections are for debuggers and binary tools. */
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "isa/object/isa_elf_priv.h"

/* ---- symbols ---------------------------------------------------------------------- */

static void put_symbol(struct isa_bytes *symbols, struct isa_bytes *strings, const char *name,
                       unsigned type, unsigned section, uint64_t value, uint64_t size)
{
    Elf64_Sym symbol = { .st_name = (Elf64_Word)strings->size,
                         .st_info = (unsigned char)ELF64_ST_INFO(STB_GLOBAL, type),
                         .st_shndx = (Elf64_Section)section,
                         .st_value = value,
                         .st_size = size };

    isa_bytes_string(strings, name);
    isa_bytes_put(symbols, &symbol, sizeof symbol);
}

/* Returns the kernel number @index of the object, or NULL if there are fewer kernels. */
static const struct isa_function *kernel_at(const struct isa_object *object, unsigned index)
{
    for (unsigned i = 0; i < object->function_count; i++) {
        if (object->functions[i].kernel && index-- == 0)
            return &object->functions[i];
    }
    return NULL;
}

/* Writes the symbols. In a loaded object, the first kernel has the additional name main, because gdb ends backtraces at main, and
 * its commands `start` and `list` begin at main. */
static void make_symbols(const struct isa_object *object, const uint64_t *variables,
                         unsigned text_section, unsigned launch_section,
                         struct isa_bytes *symbols, struct isa_bytes *strings)
{
    static const Elf64_Sym none;

    isa_bytes_u8(strings, 0);
    isa_bytes_put(symbols, &none, sizeof none);
    if (variables != NULL)
        put_symbol(symbols, strings, ISA_LAUNCH_NAME, STT_FUNC, launch_section,
                   ISA_LAUNCH_BASE, ISA_LAUNCH_BYTES);
    if (variables != NULL && kernel_at(object, 0) != NULL)
        put_symbol(symbols, strings, "main", STT_FUNC, text_section,
                   isa_elf_text_address(object) + (uint64_t)kernel_at(object, 0)->first * ISA_WORD_BYTES, 0);
    for (unsigned i = 0; i < object->function_count; i++) {
        const struct isa_function *function = &object->functions[i];

        put_symbol(symbols, strings, function->name, STT_FUNC, text_section,
                   isa_elf_text_address(object) + (uint64_t)function->first * ISA_WORD_BYTES,
                   (uint64_t)function->count * ISA_WORD_BYTES);
    }
    for (unsigned i = 0; i < object->variable_count; i++) {
        const struct isa_variable *variable = &object->variables[i];
        bool shared = variable->space == ISA_SPACE_SHARED;

        /* global variables have no address before the object is loaded, so their symbols are undefined until then */
        put_symbol(symbols, strings, variable->name, STT_OBJECT,
                   shared || variables != NULL ? SHN_ABS : SHN_UNDEF,
                   shared              ? ISA_SHARED_BASE + variable->shared_offset
                   : variables != NULL ? variables[i]
                                       : 0,
                   variable->size_bytes);
    }
}

/* ---- writing --------------------------------------------------------------------------- */

/** The sections of the file, in order, after the null section. The last section is written only for debuggers. */
enum section {
    SECTION_TEXT, SECTION_META, SECTION_DEBUG, SECTION_LOOPS, SECTION_BOUNDS, SECTION_REFUSALS,
    SECTION_SLICES,
    SECTION_LINE, SECTION_INFO, SECTION_ABBREV, SECTION_FRAME, SECTION_LOC, SECTION_RANGES,
    SECTION_MACROS, SECTION_SYMTAB, SECTION_STRTAB, SECTION_NAMES, SECTION_LAUNCH, SECTION_COUNT
};

static const struct {
    const char *name;
    uint32_t type;
    uint64_t flags, align, entry;
} sections[SECTION_COUNT] = {
    [SECTION_TEXT] = { ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 16, 0 },
    [SECTION_META] = { ".lanewise", SHT_PROGBITS, 0, 1, 0 },
    [SECTION_DEBUG] = { ".lanewise.debug", SHT_PROGBITS, 0, 1, 0 },
    [SECTION_LOOPS] = { ".lanewise.loops", SHT_PROGBITS, 0, 1, 0 },
    [SECTION_BOUNDS] = { ".lanewise.bounds", SHT_PROGBITS, 0, 1, 0 },
    [SECTION_REFUSALS] = { ".lanewise.refusals", SHT_PROGBITS, 0, 1, 0 },
    [SECTION_SLICES] = { ".lanewise.slices", SHT_PROGBITS, 0, 1, 0 },
    [SECTION_LINE] = { ".debug_line", SHT_PROGBITS, 0, 1, 0 },
    [SECTION_INFO] = { ".debug_info", SHT_PROGBITS, 0, 1, 0 },
    [SECTION_ABBREV] = { ".debug_abbrev", SHT_PROGBITS, 0, 1, 0 },
    [SECTION_FRAME] = { ".debug_frame", SHT_PROGBITS, 0, 8, 0 },
    [SECTION_LOC] = { ".debug_loc", SHT_PROGBITS, 0, 1, 0 },
    [SECTION_RANGES] = { ".debug_ranges", SHT_PROGBITS, 0, 1, 0 },
    [SECTION_MACROS] = { ".debug_macinfo", SHT_PROGBITS, 0, 1, 0 },
    [SECTION_SYMTAB] = { ".symtab", SHT_SYMTAB, 0, 8, sizeof(Elf64_Sym) },
    [SECTION_STRTAB] = { ".strtab", SHT_STRTAB, 0, 1, 0 },
    [SECTION_NAMES] = { ".shstrtab", SHT_STRTAB, 0, 1, 0 },
    [SECTION_LAUNCH] = { ".launch", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 16, 0 },
};

static enum lw_status elf_fail(struct lw_error *err)
{
    return LW_FAIL(err, LW_EIO, "libelf: %s", elf_errmsg(-1));
}

static enum lw_status add_section(Elf *elf, enum section id, const struct isa_bytes *content,
                                  uint32_t name, uint64_t text, struct lw_error *err)
{
    Elf_Scn *scn = elf_newscn(elf);
    Elf_Data *data = scn != NULL ? elf_newdata(scn) : NULL;
    Elf64_Shdr *header = scn != NULL ? elf64_getshdr(scn) : NULL;

    if (data == NULL || header == NULL)
        return elf_fail(err);
    data->d_buf = content->data;
    data->d_size = id == SECTION_LAUNCH ? ISA_LAUNCH_BYTES : content->size;
    data->d_align = sections[id].align;
    data->d_type = ELF_T_BYTE; /* libelf must not convert the contents, which are already little-endian */
    data->d_version = EV_CURRENT;
    header->sh_name = name;
    header->sh_type = sections[id].type;
    header->sh_flags = sections[id].flags;
    header->sh_addralign = sections[id].align;
    header->sh_entsize = sections[id].entry;
    header->sh_addr = id == SECTION_TEXT     ? text
                      : id == SECTION_LAUNCH ? ISA_LAUNCH_BASE
                                             : 0;
    if (id == SECTION_SYMTAB) {
        header->sh_link = SECTION_STRTAB + 1;
        header->sh_info = 1; /* index of the first symbol that is not local */
    }
    return LW_OK;
}

/* Adds a loadable segment for the text, after libelf has determined the text's position in the file. */
static enum lw_status put_segment(Elf *elf, uint64_t text, size_t text_bytes, struct lw_error *err)
{
    Elf64_Phdr *segment;
    Elf64_Shdr *header;

    if (elf_update(elf, ELF_C_NULL) < 0)
        return elf_fail(err);
    segment = elf64_getphdr(elf);
    header = elf64_getshdr(elf_getscn(elf, SECTION_TEXT + 1));
    if (segment == NULL || header == NULL)
        return elf_fail(err);
    segment->p_type = PT_LOAD;
    segment->p_flags = PF_R | PF_X;
    segment->p_offset = header->sh_offset;
    segment->p_vaddr = text;
    segment->p_paddr = text;
    segment->p_filesz = text_bytes;
    segment->p_memsz = text_bytes;
    segment->p_align = ISA_WORD_BYTES;
    elf_flagphdr(elf, ELF_C_SET, ELF_F_DIRTY);
    return LW_OK;
}

/* Returns the entry point: the address of the second kernel, or of the only kernel. gdb ends backtraces at main, which is the
 * first kernel, and at the function of the entry point. */
static uint64_t entry_point(const struct isa_object *object)
{
    const struct isa_function *entry = kernel_at(object, kernel_at(object, 1) != NULL ? 1 : 0);

    return entry != NULL ? isa_elf_text_address(object) + (uint64_t)entry->first * ISA_WORD_BYTES : 0;
}

static enum lw_status build_elf(int fd, const struct isa_bytes *contents, unsigned count,
                                uint64_t text, uint64_t entry, struct lw_error *err)
{
    Elf *elf = elf_begin(fd, ELF_C_WRITE, NULL);
    enum lw_status status = LW_OK;
    uint32_t name = 1;
    Elf64_Ehdr *header;

    if (elf == NULL)
        return elf_fail(err);
    header = elf64_newehdr(elf);
    if (header == NULL || elf64_newphdr(elf, 1) == NULL) {
        status = elf_fail(err);
        goto cleanup;
    }
    header->e_ident[EI_DATA] = ELFDATA2LSB;
    header->e_type = ET_EXEC;
    header->e_machine = ISA_ELF_MACHINE;
    header->e_version = EV_CURRENT;
    header->e_entry = entry;
    header->e_shstrndx = SECTION_NAMES + 1;
    for (unsigned id = 0; id < count && status == LW_OK; id++) {
        status = add_section(elf, id, &contents[id], name, text, err);
        name += (uint32_t)strlen(sections[id].name) + 1;
    }
    if (status == LW_OK)
        status = put_segment(elf, text, contents[SECTION_TEXT].size, err);
    if (status == LW_OK && elf_update(elf, ELF_C_WRITE) < 0)
        status = elf_fail(err);
cleanup:
    elf_end(elf);
    return status;
}

static enum lw_status read_back(int fd, uint8_t **bytes, size_t *size, struct lw_error *err)
{
    off_t length = lseek(fd, 0, SEEK_END);
    uint8_t *copy;

    if (length < 0)
        return LW_FAIL(err, LW_EIO, "object file: %s", strerror(errno));
    copy = malloc((size_t)length + 1);
    if (copy == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the object file of %lld bytes", (long long)length);
    for (off_t at = 0; at < length;) {
        ssize_t n = pread(fd, copy + at, (size_t)(length - at), at);

        if (n <= 0) {
            free(copy);
            return LW_FAIL(err, LW_EIO, "object file: cannot read it back");
        }
        at += n;
    }
    *bytes = copy;
    *size = (size_t)length;
    return LW_OK;
}

/* Writes the text. Immediates that have a relocation are zero in the file; the loader sets them. */
static void make_text(const struct isa_object *object, struct isa_bytes *out)
{
    isa_bytes_put(out, object->text, (size_t)object->text_count * ISA_WORD_BYTES);
    for (unsigned i = 0; i < object->reloc_count && !out->failed; i++) {
        if (object->relocs[i].insn != UINT32_MAX)
            lw_put32(out->data + (size_t)object->relocs[i].insn * ISA_WORD_BYTES + 4, 0);
    }
}

enum lw_status isa_object_write(const struct isa_object *object, uint8_t **bytes, size_t *size,
                                struct lw_error *err)
{
    return isa_object_write_loaded(object, NULL, bytes, size, err);
}

enum lw_status isa_object_write_loaded(const struct isa_object *object,
                                       const uint64_t *variables, uint8_t **bytes, size_t *size,
                                       struct lw_error *err)
{
    struct isa_bytes contents[SECTION_COUNT] = { 0 };
    struct isa_dwarf dwarf;
    enum lw_status status = isa_object_check(object, err);
    int fd = -1;

    if (status != LW_OK)
        return status;
    isa_dwarf_make(object, variables, &dwarf);
    contents[SECTION_LINE] = dwarf.line;
    contents[SECTION_INFO] = dwarf.info;
    contents[SECTION_ABBREV] = dwarf.abbrev;
    contents[SECTION_FRAME] = dwarf.frame;
    contents[SECTION_LOC] = dwarf.loc;
    contents[SECTION_RANGES] = dwarf.ranges;
    contents[SECTION_MACROS] = dwarf.macros;
    make_text(object, &contents[SECTION_TEXT]);
    isa_meta_write(object, &contents[SECTION_META]);
    isa_debug_write(object, &contents[SECTION_DEBUG]);
    isa_loops_write(object, &contents[SECTION_LOOPS]);
    isa_bounds_write(object, &contents[SECTION_BOUNDS]);
    isa_refusals_write(object, &contents[SECTION_REFUSALS]);
    isa_slices_write(object, &contents[SECTION_SLICES]);
    make_symbols(object, variables, SECTION_TEXT + 1, SECTION_LAUNCH + 1,
                 &contents[SECTION_SYMTAB], &contents[SECTION_STRTAB]);
    isa_bytes_u8(&contents[SECTION_NAMES], 0);
    for (unsigned id = 0; id < SECTION_COUNT; id++)
        isa_bytes_string(&contents[SECTION_NAMES], sections[id].name);
    for (unsigned id = 0; id < SECTION_COUNT; id++) {
        if (contents[id].failed)
            status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for section %s", sections[id].name);
    }
    if (status != LW_OK)
        goto cleanup;
    if (elf_version(EV_CURRENT) == EV_NONE) {
        status = elf_fail(err);
        goto cleanup;
    }
    fd = memfd_create("object", MFD_CLOEXEC); /* libelf can only write to a file */
    if (fd < 0) {
        status = LW_FAIL(err, LW_EIO, "object file: %s", strerror(errno));
        goto cleanup;
    }
    status = build_elf(fd, contents, variables != NULL ? SECTION_COUNT : SECTION_LAUNCH,
                       isa_elf_text_address(object), entry_point(object), err);
    if (status == LW_OK)
        status = read_back(fd, bytes, size, err);
cleanup:
    if (fd >= 0)
        close(fd);
    for (unsigned id = 0; id < SECTION_COUNT; id++)
        isa_bytes_fini(&contents[id]); /* for a DWARF section, frees the bytes that were moved here */
    return status;
}

/* ---- reading ----------------------------------------------------------------------------- */

/** Contents of a section in the file. A check has ensured that the contents are inside the file. */
struct extent {
    const uint8_t *data;
    size_t size;
};

/* Returns true if the reader uses section @id. */
static bool is_read(unsigned id)
{
    return id <= SECTION_SLICES;
}

static enum lw_status find_sections(Elf *elf, const uint8_t *bytes, size_t size,
                                    struct extent found[SECTION_COUNT], struct lw_error *err)
{
    size_t names;
    Elf_Scn *scn = NULL;

    if (elf_getshdrstrndx(elf, &names) != 0)
        return LW_FAIL(err, LW_EFORMAT, "the section names are missing");
    while ((scn = elf_nextscn(elf, scn)) != NULL) {
        GElf_Shdr header;
        const char *name;
        unsigned id = 0;

        if (gelf_getshdr(scn, &header) == NULL ||
            (name = elf_strptr(elf, names, header.sh_name)) == NULL)
            return LW_FAIL(err, LW_EFORMAT, "section %zu has no name", elf_ndxscn(scn));
        while (is_read(id) && strcmp(name, sections[id].name) != 0)
            id++;
        if (!is_read(id))
            continue;
        if (found[id].data != NULL)
            return LW_FAIL(err, LW_EFORMAT, "section %s exists twice", name);
        if (header.sh_type != SHT_PROGBITS || (header.sh_flags & SHF_COMPRESSED) ||
            header.sh_offset > size || header.sh_size > size - header.sh_offset)
            return LW_FAIL(err, LW_EFORMAT, "section %s is not inside the file", name);
        if (id == SECTION_TEXT &&
            (header.sh_addr != ISA_CODE_BASE || header.sh_size % ISA_WORD_BYTES != 0))
            return LW_FAIL(err, LW_EFORMAT, "section .text cannot have address 0x%llx and %llu bytes",
                           (unsigned long long)header.sh_addr,
                           (unsigned long long)header.sh_size);
        found[id].data = bytes + header.sh_offset;
        found[id].size = (size_t)header.sh_size;
    }
    for (unsigned id = SECTION_TEXT; id <= SECTION_META; id++) {
        if (found[id].data == NULL)
            return LW_FAIL(err, LW_EFORMAT, "there is no section %s", sections[id].name);
    }
    return LW_OK;
}

static enum lw_status check_header(Elf *elf, struct lw_error *err)
{
    GElf_Ehdr header;

    if (elf == NULL || elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &header) == NULL)
        return LW_FAIL(err, LW_EFORMAT, "this file is not an ELF file");
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_type != ET_EXEC || header.e_version != EV_CURRENT)
        return LW_FAIL(err, LW_EFORMAT, "this file is not a little-endian 64-bit ELF executable");
    if (header.e_machine != ISA_ELF_MACHINE)
        return LW_FAIL(err, LW_EFORMAT, "this ELF file is for machine 0x%x, but Lanewise objects have 0x%x",
                       header.e_machine, ISA_ELF_MACHINE);
    return LW_OK;
}

/* Checks that the section table is inside the file. libelf would only report "no such section". */
static enum lw_status check_whole(const uint8_t *bytes, size_t size, struct lw_error *err)
{
    Elf64_Ehdr header;
    uint64_t end;

    memcpy(&header, bytes, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        __builtin_add_overflow(header.e_shoff, (uint64_t)header.e_shnum * header.e_shentsize, &end))
        return LW_OK; /* other bytes at the start are no ELF header, for which check_header() has a better message */
    if (end > size)
        return LW_FAIL(err, LW_EFORMAT, "the object is truncated: its header says %llu bytes, but it has %zu: compile "
                                        "or assemble it again",
                       (unsigned long long)end, size);
    return LW_OK;
}

static enum lw_status read_elf(const uint8_t *bytes, size_t size, struct isa_object *object,
                               struct lw_error *err)
{
    /* Sections are read in this order, because each reader relies on the sections before its own. Only the first section is
     * mandatory. */
    static const struct {
        unsigned id;
        enum lw_status (*read)(const uint8_t *, size_t, struct isa_object *, struct lw_error *);
    } readers[] = {
        { SECTION_META, isa_meta_read },
        { SECTION_DEBUG, isa_debug_read },
        { SECTION_LOOPS, isa_loops_read },
        { SECTION_BOUNDS, isa_bounds_read },
        { SECTION_REFUSALS, isa_refusals_read },
        { SECTION_SLICES, isa_slices_read },
    };
    struct extent found[SECTION_COUNT] = { { NULL, 0 } };
    const struct extent *text = &found[SECTION_TEXT];
    uint8_t *copy = NULL;
    Elf *elf = NULL;
    enum lw_status status;

    if (size < sizeof(Elf64_Ehdr))
        return LW_FAIL(err, LW_EFORMAT, "the file has only %zu bytes, too few for an object", size);
    status = check_whole(bytes, size, err);
    if (status != LW_OK)
        return status;
    copy = malloc(size); /* a copy, because libelf needs memory that is aligned and writable */
    if (copy == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the object of %zu bytes", size);
    memcpy(copy, bytes, size);
    if (elf_version(EV_CURRENT) == EV_NONE) {
        status = elf_fail(err);
        goto cleanup;
    }
    elf = elf_memory((char *)copy, size);
    status = check_header(elf, err);
    if (status == LW_OK)
        status = find_sections(elf, copy, size, found, err);
    if (status != LW_OK)
        goto cleanup;
    object->text_count = (uint32_t)(text->size / ISA_WORD_BYTES);
    object->text = lw_arena_alloc(&object->arena, text->size);
    if (object->text == NULL) {
        status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for the text of %zu bytes", text->size);
        goto cleanup;
    }
    memcpy(object->text, text->data, text->size);
    for (unsigned i = 0; i < LW_COUNT_OF(readers) && status == LW_OK; i++) {
        const struct extent *e = &found[readers[i].id];

        if (e->size != 0 || readers[i].id == SECTION_META)
            status = readers[i].read(e->data, e->size, object, err);
    }
    if (status == LW_OK)
        status = isa_object_check(object, err);
cleanup:
    elf_end(elf);
    free(copy);
    return status;
}

enum lw_status isa_object_read(const char *name, const uint8_t *bytes, size_t size,
                               struct isa_object **out, struct lw_error *err)
{
    struct isa_object *object = isa_object_create();
    enum lw_status status;

    if (object == NULL)
        return LW_FAIL(err, LW_ENOMEM, "%s: the host has no memory for an object", name);
    status = read_elf(bytes, size, object, err);
    if (status != LW_OK) {
        lw_error_prefix(err, "%s", name);
        isa_object_destroy(object);
        return status;
    }
    *out = object;
    return LW_OK;
}
