/* SPDX-License-Identifier: Apache-2.0 */
/* The features of the stub by name, and the reply to qSupported, which offers some of them. */
#include "gdbstub/rsp_priv.h"

static const struct {
    const char *name, *summary;
} features[] = {
#define RSP_FEATURE(id, name, summary) {name, summary},
#include "gdbstub/rsp_features.def"
};
_Static_assert(RSP_FEATURE_COUNT < 64, "struct rsp_config's without has 64 bits");

/* Features that gdb uses only if the reply to qSupported has the text. */
static const struct {
    enum rsp_feature feature;
    const char *text;
} offers[] = {
    {RSP_F_NO_ACK, "QStartNoAckMode+"},
    {RSP_F_NO_RESUMED, "no-resumed+"},
    {RSP_F_TARGET_XML, "qXfer:features:read+"},
    {RSP_F_THREAD_XML, "qXfer:threads:read+"},
    {RSP_F_OSDATA, "qXfer:osdata:read+"},
    {RSP_F_EXEC_FILE, "qXfer:exec-file:read+"},
    {RSP_F_SWBREAK, "swbreak+"},
    {RSP_F_HBREAK, "hwbreak+"},
    {RSP_F_CONDITIONS, "ConditionalBreakpoints+"},
    {RSP_F_VCONT, "vContSupported+"},
    {RSP_F_DPRINTF, "BreakpointCommands+"},
    {RSP_F_REVERSE, "ReverseStep+;ReverseContinue+"},
};

/* Pairs of features, of which the first works only with the second. */
static const enum rsp_feature needs[][2] = {
    {RSP_F_THREAD_XML, RSP_F_THREADS},
    {RSP_F_RANGE_STEP, RSP_F_VCONT},
    {RSP_F_LOCKING, RSP_F_VCONT},
    {RSP_F_COND_LANES, RSP_F_CONDITIONS},
    {RSP_F_DPRINTF, RSP_F_BREAK},
    {RSP_F_CONDITIONS, RSP_F_BREAK},
    {RSP_F_RWATCH, RSP_F_WATCH},
};

const char *rsp_feature_name(unsigned feature)
{
    return feature < RSP_FEATURE_COUNT ? features[feature].name : NULL;
}

const char *rsp_feature_summary(unsigned feature)
{
    return feature < RSP_FEATURE_COUNT ? features[feature].summary : NULL;
}

bool rsp_feature_find(const char *name, enum rsp_feature *out)
{
    for (unsigned i = 0; i < RSP_FEATURE_COUNT; i++)
        if (strcmp(features[i].name, name) == 0) {
            *out = (enum rsp_feature)i;
            return true;
        }
    return false;
}

uint64_t rsp_features_without(uint64_t without)
{
    /* The table is read twice, because a needed feature may itself need another one that a later row names. */
    for (size_t i = 0; i < 2 * LW_COUNT_OF(needs); i++) {
        const enum rsp_feature *need = needs[i % LW_COUNT_OF(needs)];

        if (without >> need[1] & 1)
            without |= UINT64_C(1) << need[0];
    }
    return without;
}

static bool offered(const struct rsp_args *args, const char *feature)
{
    size_t length = strlen(feature);
    const char *p = args->rest, *end = p + args->rest_size;

    while (p < end) {
        const char *stop = memchr(p, ';', (size_t)(end - p));

        if (stop == NULL)
            stop = end;
        if (*p == ':') /* the colon of "qSupported:first;second" */
            p++;
        if ((size_t)(stop - p) == length && memcmp(p, feature, length) == 0)
            return true;
        p = stop + 1;
    }
    return false;
}

void rsp_do_supported(struct rsp *rsp, const struct rsp_args *args)
{
    /* gdb treats a stop reason as an error if its qSupported packet has not offered the reason. Without a reason, gdb for x86
     * finds the breakpoint by the pc. */
    rsp->swbreak = offered(args, "swbreak+") && rsp_has(rsp, RSP_F_SWBREAK);
    rsp->hwbreak = offered(args, "hwbreak+") && rsp_has(rsp, RSP_F_HBREAK);
    rsp->no_resumed = offered(args, "no-resumed+") && rsp_has(rsp, RSP_F_NO_RESUMED);
    if (rsp_has(rsp, RSP_F_PACKET_SIZE))
        lw_printf(&rsp->reply.sink, "PacketSize=%x", RSP_PACKET_BYTES);
    for (size_t i = 0; i < LW_COUNT_OF(offers); i++)
        if (rsp_has(rsp, offers[i].feature) &&
            (offers[i].feature != RSP_F_EXEC_FILE || rsp->elf != NULL))
            lw_printf(&rsp->reply.sink, "%s%s", rsp->reply.size != 0 ? ";" : "", offers[i].text);
    rsp_lldb_supported(rsp, args->rest, args->rest_size);
}
