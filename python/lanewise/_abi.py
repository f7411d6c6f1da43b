# SPDX-License-Identifier: Apache-2.0
"""Declares the types and functions of lanewise.h for ctypes.

The tables STRUCTURES and FUNCTIONS contain C types as lanewise.h writes them; the table TYPES maps each C type to a ctypes
type. tests/host/python/test_abi.py uses a C compiler to compare the tables with the header.
"""
import ctypes

OK, FINDING, ERROR, FAULT, HANG, INTERRUPTED, KILLED = range(7)
PARAM_VALUE, PARAM_GLOBAL, PARAM_CONSTANT, PARAM_LOCAL = range(4)
TYPE_UNKNOWN, TYPE_INTEGER, TYPE_FLOAT, TYPE_POINTER = range(4)
MAX_BLOCK_THREADS = 1024
FAULTS = (
    "NONE", "OUT_OF_BOUNDS", "FREED", "MISALIGNED", "READ_ONLY", "NULL_PAGE", "BAD_PC", "BAD_CALL", "TRAP", "ASSERT",
    "EXEC_WRITE", "EXEC_SPLIT", "SCALAR_WRITE", "WARPSYNC_SELF", "BARRIER_COUNT", "SIMT_STACK", "FREE", "LAUNCH",
    "LAUNCH_BUFFER", "LAUNCH_DEPTH", "LAUNCH_PENDING", "TEXTURE")

#: Maps each enumerator of the header to its value.
ENUMERATORS = {
    "LANEWISE_OK": OK,
    "LANEWISE_FINDING": FINDING,
    "LANEWISE_ERROR": ERROR,
    "LANEWISE_FAULT": FAULT,
    "LANEWISE_HANG": HANG,
    "LANEWISE_INTERRUPTED": INTERRUPTED,
    "LANEWISE_KILLED": KILLED,
    "LANEWISE_PARAM_VALUE": PARAM_VALUE,
    "LANEWISE_PARAM_GLOBAL": PARAM_GLOBAL,
    "LANEWISE_PARAM_CONSTANT": PARAM_CONSTANT,
    "LANEWISE_PARAM_LOCAL": PARAM_LOCAL,
    "LANEWISE_TYPE_UNKNOWN": TYPE_UNKNOWN,
    "LANEWISE_TYPE_INTEGER": TYPE_INTEGER,
    "LANEWISE_TYPE_FLOAT": TYPE_FLOAT,
    "LANEWISE_TYPE_POINTER": TYPE_POINTER,
    "LANEWISE_MAX_BLOCK_THREADS": MAX_BLOCK_THREADS,
    **{"LANEWISE_FAULT_" + name: number for number, name in enumerate(FAULTS)},
}

PRINT_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t)
READY_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)

#: Maps each C type to its ctypes type. Pointers to machines, modules and kernels are void pointers.
TYPES = {
    "void": None,
    "int": ctypes.c_int,
    "unsigned": ctypes.c_uint,
    "size_t": ctypes.c_size_t,
    "uint32_t": ctypes.c_uint32,
    "uint64_t": ctypes.c_uint64,
    "uint32_t[3]": ctypes.c_uint32 * 3,
    "const uint32_t *": ctypes.POINTER(ctypes.c_uint32),
    "uint64_t *": ctypes.POINTER(ctypes.c_uint64),
    "size_t *": ctypes.POINTER(ctypes.c_size_t),
    "char *": ctypes.c_void_p,  # an address: a text that the library frees, or memory to which the library writes a text
    "const char *": ctypes.c_char_p,
    "char **": ctypes.POINTER(ctypes.c_void_p),
    "const char *const *": ctypes.POINTER(ctypes.c_char_p),
    "void *": ctypes.c_void_p,
    "const void *": ctypes.c_void_p,
    "void **": ctypes.POINTER(ctypes.c_void_p),
    "const void *const *": ctypes.POINTER(ctypes.c_void_p),
    "lanewise_machine *": ctypes.c_void_p,
    "const lanewise_machine *": ctypes.c_void_p,
    "lanewise_module *": ctypes.c_void_p,
    "const lanewise_module *": ctypes.c_void_p,
    "lanewise_module **": ctypes.POINTER(ctypes.c_void_p),
    "lanewise_kernel *": ctypes.c_void_p,
    "const lanewise_kernel *": ctypes.c_void_p,
    "enum lanewise_fault": ctypes.c_uint,
    "enum lanewise_param_kind": ctypes.c_uint,
    "enum lanewise_param_type": ctypes.c_uint,
    "void (*)(void *, const char *, size_t)": PRINT_FUNCTION,
    "void (*)(void *, const char *)": READY_FUNCTION,
}

#: Maps each structure to its members as (name, C type), in the order of the header. A structure comes before the structures
#: that contain it.
STRUCTURES = {
    "lanewise_text": [("name", "const char *"), ("text", "const void *"), ("size", "size_t")],
    "lanewise_param": [
        ("name", "const char *"), ("kind", "enum lanewise_param_kind"), ("bytes", "uint32_t"), ("align", "uint32_t"),
        ("type", "enum lanewise_param_type"), ("structure", "const char *")],
    "lanewise_kernel_needs": [
        ("max_threads", "uint32_t"), ("required_block", "uint32_t[3]"), ("shared_bytes", "uint32_t"),
        ("local_bytes", "uint32_t"), ("vector_registers", "uint32_t"), ("scalar_registers", "uint32_t")],
    "lanewise_shape": [
        ("grid", "uint32_t[3]"), ("block", "uint32_t[3]"), ("shared_bytes", "uint32_t"), ("dimensions", "uint32_t"),
        ("offset", "uint32_t[3]")],
    "lanewise_gdb_options": [
        ("address", "const char *"), ("kernel", "const char *"), ("history_mib", "uint64_t"), ("own", "int"),
        ("ready", "void (*)(void *, const char *)"), ("context", "void *"), ("advice", "const char *")],
    "lanewise_location": [
        ("kernel", "const char *"), ("function", "const char *"), ("file", "const char *"), ("line", "uint32_t"),
        ("block", "uint32_t[3]"), ("warp", "uint32_t"), ("launch", "uint32_t"), ("lanes", "uint64_t"), ("pc", "uint64_t")],
    "lanewise_finding": [
        ("kind", "const char *"), ("message", "const char *"), ("location", "lanewise_location"),
        ("other", "lanewise_location"), ("address", "uint64_t"), ("allocation", "const char *"), ("count", "uint64_t"),
        ("call_count", "unsigned"), ("other_call_count", "unsigned")],
    "lanewise_host_finding": [
        ("kind", "const char *"), ("message", "const char *"), ("function", "const char *"), ("file", "const char *"),
        ("line", "uint32_t"), ("count", "uint64_t")],
    "lanewise_call": [("function", "const char *"), ("file", "const char *"), ("line", "uint32_t")],
}


def _structure(name, members):
    made = type(name, (ctypes.Structure,), {"_fields_": [(member, TYPES[c]) for member, c in members]})
    TYPES[name] = made
    for pointer in (name + " *", "const " + name + " *"):
        TYPES[pointer] = ctypes.POINTER(made)
    return made


Text, Param, KernelNeeds, Shape, GdbOptions, Location, Finding, HostFinding, Call = (
    _structure(name, members) for name, members in STRUCTURES.items())
CALLER_FUNCTION = TYPES["void (*)(void *, lanewise_call *)"] = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(Call))

_M, _CM, _MODULE, _CK = "lanewise_machine *", "const lanewise_machine *", "lanewise_module *", "const lanewise_kernel *"
_T, _OPTIONS, _HEADERS = "const char *", "const char *const *", ("const lanewise_text *", "unsigned")

#: Maps each function to the C types of its result and of its parameters.
FUNCTIONS = {
    "lanewise_version": (_T, []),
    "lanewise_create": (_M, []),
    "lanewise_destroy": ("void", [_M]),
    "lanewise_set": ("int", [_M, _T, _T]),
    "lanewise_key": (_T, ["unsigned"]),
    "lanewise_begin": ("int", [_M]),
    "lanewise_timing_value": ("int", [_M, _T, "char *", "size_t"]),
    "lanewise_error": (_T, [_CM]),
    "lanewise_print": ("void", [_M, "void (*)(void *, const char *, size_t)", "void *"]),
    "lanewise_load": ("int", [_M, _T, _OPTIONS, "lanewise_module **"]),
    "lanewise_load_text": ("int", [_M, _T, "const void *", "size_t", _OPTIONS, "lanewise_module **"]),
    "lanewise_has_spirv": ("int", [_M]),
    "lanewise_compile": ("int", [_M, "const lanewise_text *", *_HEADERS, _OPTIONS, "char **", "size_t *", "char **"]),
    "lanewise_link": ("int", [_M, *_HEADERS, "lanewise_module **"]),
    "lanewise_describe": ("int", [_M, "const lanewise_text *", *_HEADERS, _OPTIONS, "char **"]),
    "lanewise_kernel_at": ("lanewise_kernel *", [_MODULE, "unsigned"]),
    "lanewise_kernel_find": ("lanewise_kernel *", [_MODULE, _T]),
    "lanewise_kernel_refusal": (_T, ["const lanewise_module *", _T]),
    "lanewise_kernel_name": (_T, [_CK]),
    "lanewise_plain_name": ("void", [_T, "char *", "size_t"]),
    "lanewise_kernel_param_count": ("unsigned", [_CK]),
    "lanewise_kernel_param_bytes": ("size_t", [_CK, "unsigned"]),
    "lanewise_kernel_param": ("int", [_CK, "unsigned", "lanewise_param *", "size_t"]),
    "lanewise_kernel_get_needs": ("int", [_CK, "lanewise_kernel_needs *", "size_t"]),
    "lanewise_module_log": (_T, ["const lanewise_module *"]),
    "lanewise_module_object": ("int", [_MODULE, "void **", "size_t *"]),
    "lanewise_object_free": ("void", ["void *"]),
    "lanewise_variable_bytes": ("uint64_t", ["const lanewise_module *"]),
    "lanewise_variable_is_managed": ("int", ["const lanewise_module *", _T]),
    "lanewise_variable": ("int", [_MODULE, _T, "uint64_t *", "uint64_t *"]),
    "lanewise_alloc": ("int", [_M, "uint64_t", _T, "uint64_t *"]),
    "lanewise_free": ("int", [_M, "uint64_t"]),
    "lanewise_reserve": ("int", [_M, "uint64_t", "uint64_t *"]),
    "lanewise_unreserve": ("int", [_M, "uint64_t"]),
    "lanewise_map": ("int", [_M, "uint64_t", "uint64_t", _T, "int"]),
    "lanewise_write": ("int", [_M, "uint64_t", "const void *", "size_t"]),
    "lanewise_read": ("int", [_M, "uint64_t", "void *", "size_t"]),
    "lanewise_peek": ("int", [_M, "uint64_t", "void *", "size_t"]),
    "lanewise_copy": ("int", [_M, "uint64_t", "uint64_t", "uint64_t"]),
    "lanewise_fill": ("int", [_M, "uint64_t", "const void *", "size_t", "uint64_t"]),
    "lanewise_heap_limit": ("int", [_M, "uint64_t"]),
    "lanewise_pending_limit": ("int", [_M, "uint32_t"]),
    "lanewise_stack_limit": ("int", [_M, "uint32_t"]),
    "lanewise_allocation": ("int", [_M, "uint64_t", "uint64_t *", "uint64_t *"]),
    "lanewise_address_range": ("void", [_CM, "uint64_t *", "uint64_t *"]),
    "lanewise_host_pointer": ("void *", [_M, "uint64_t"]),
    "lanewise_launch": ("int", [_M, _CK, "const uint32_t *", "const uint32_t *", "uint32_t", "const void *const *"]),
    "lanewise_launch_shape": ("int", [_M, _CK, "const lanewise_shape *", "size_t", "const void *const *"]),
    "lanewise_wait": ("int", [_M]),
    "lanewise_fault_kind": ("enum lanewise_fault", [_CM]),
    "lanewise_fault_allocation": (_T, [_CM]),
    "lanewise_recover": ("int", [_M]),
    "lanewise_interrupt": ("void", [_M]),
    "lanewise_gdb": ("int", [_M, "const lanewise_gdb_options *", "size_t"]),
    "lanewise_record_message": (_T, [_CM]),
    "lanewise_log_save": ("int", [_M, _T]),
    "lanewise_finding_count": ("unsigned", [_CM]),
    "lanewise_finding_get": ("int", [_M, "unsigned", "lanewise_finding *", "size_t"]),
    "lanewise_finding_call": ("int", [_M, "unsigned", "int", "unsigned", "lanewise_call *", "size_t"]),
    "lanewise_finding_text": ("int", [_M, "unsigned", "char **"]),
    "lanewise_file_is_foreign": ("int", [_T]),
    "lanewise_caller": ("void", [_M, "void (*)(void *, lanewise_call *)", "void *"]),
    "lanewise_finding_relate": ("int", [_M, "unsigned", _T, _T, "uint32_t"]),
    "lanewise_finding_add": ("int", [_M, "const lanewise_host_finding *", "size_t"]),
    "lanewise_finding_wanted": ("int", [_M, _T]),
    "lanewise_forbid": ("int", [_M, "uint64_t", "uint64_t", "int", "int", _T]),
    "lanewise_permit": ("int", [_M, "uint64_t", "uint64_t", _T]),
    "lanewise_finish": ("int", [_M]),
    "lanewise_statistic": ("int", [_M, _T, "uint64_t *"]),
    "lanewise_statistic_name": (_T, ["unsigned"]),
    "lanewise_report": ("int", [_M, _T, "char **"]),
    "lanewise_report_free": ("void", ["char *"]),
    "lanewise_hash": ("uint64_t", [_CM]),
}


def declare(library):
    """Sets the types of the functions of a loaded library. Returns the names of the functions that the library lacks."""
    missing = []
    for name, (result, parameters) in FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            missing.append(name)
            continue
        function.restype = TYPES[result]
        function.argtypes = [TYPES[parameter] for parameter in parameters]
    return missing
