/* SPDX-License-Identifier: Apache-2.0 */
/* A run on another machine: a session and its model go there, the run is done there, the session comes back. */
#pragma once
#include "core/base/progress.h"

G_BEGIN_DECLS

/**
 * GantryRemote: where, and what.
 *
 * @host: (nullable): for ssh: "user@machine"
 * @launcher: (nullable): a program with its arguments that starts another one, "srun -n1 --gres=gpu:1"; with @host it is
 *   started there
 * @cli: (nullable): gantry-cli there; NULL: "gantry-cli" on a host, this very program without one
 * @files: (array zero-terminated=1): paths; the first is the session
 * @arguments: (array zero-terminated=1): of `gantry-cli profile` there
 */
typedef struct
{
  const char *host, *launcher, *cli;
  char *const *files;
  char *const *arguments;
} GantryRemote;

/**
 * gantry_remote_run:
 * @folder: for the session that comes back, and for what is said on the way
 *
 * Returns: (transfer full) (nullable): the session's path. NULL with %GANTRY_ERROR_UNSUPPORTED for no ssh, another version of
 *  Gantry, or what the other side does not support; %GANTRY_ERROR_FAILED and %GANTRY_ERROR_INVALID: the message says which side
 *  failed, and shows what it said
 */
char *gantry_remote_run (const GantryRemote *remote, const char *folder, const GantryProgress *progress, GError **error);

G_END_DECLS
