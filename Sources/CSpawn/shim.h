#ifndef SUBLEDGER_CSPAWN_SHIM_H
#define SUBLEDGER_CSPAWN_SHIM_H

#include <spawn.h>

/* glibc hides these behind _GNU_SOURCE, which Swift's importer does not define. */
#ifdef __linux__
extern int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *, const char *);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);

#ifndef POSIX_SPAWN_SETSID
#define POSIX_SPAWN_SETSID 0x80
#endif
#endif

#endif
