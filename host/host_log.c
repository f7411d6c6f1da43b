/* SPDX-License-Identifier: Apache-2.0 */
/* Schedule logs of a machine: the options "log" and "replay". */
#include "host/host_priv.h"

#include <stdlib.h>

enum lw_status host_log_begin(struct lanewise_machine *m, struct lw_error *err)
{
    const char *path = m->settings.replay;
    enum lw_status status;
    char *data;
    size_t size;

    if (m->settings.log != 0)
        return emu_log_create(m->machine, &m->log, err);
    if (path == NULL)
        return LW_OK;
    status = lw_file_read(path, &data, &size, err);
    if (status != LW_OK)
        return lw_error_prefix(err, "replay");
    status = emu_log_open(m->machine, path, data, size, &m->log, err);
    free(data);
    return status != LW_OK ? lw_error_prefix(err, "replay") : LW_OK;
}

void host_log_end(struct lanewise_machine *m)
{
    emu_log_destroy(m->log);
    m->log = NULL;
}

int host_log_check(struct lanewise_machine *m)
{
    struct lw_error err;

    if (m->settings.replay == NULL || m->log == NULL || m->stopped || emu_log_finish(m->log, &err) == LW_OK)
        return LANEWISE_OK;
    return host_fail(m, &err);
}

int lanewise_log_save(lanewise_machine *m, const char *path)
{
    struct lw_error err;

    if (m == NULL || path == NULL)
        return host_missing(m, "lanewise_log_save", "the name of the file");
    if (m->settings.log == 0 || m->log == NULL)
        return host_refuse(m, "lanewise_log_save: there is no schedule log: set \"log\" to \"yes\" before the machine is used");
    return emu_log_save(m->log, path, &err) == LW_OK ? LANEWISE_OK : host_fail(m, &err);
}
