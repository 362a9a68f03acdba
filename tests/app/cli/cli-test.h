/* SPDX-License-Identifier: Apache-2.0 */
/* Runs gantry-cli as a child and looks at what it prints, writes and answers. */
#pragma once
#include <gio/gio.h>
#include <json-glib/json-glib.h>

typedef struct
{
  int status; /* exit status; -1: ended by a signal */
  char *out;
  char *err;
} CliResult;

/** Runs gantry-cli with NULL-terminated arguments. Fails where it prints a space that is none of ASCII. (transfer full) */
CliResult *cli_run (const char *command, ...) G_GNUC_NULL_TERMINATED;
CliResult *cli_runv (GPtrArray *arguments); /* NULL-terminated or not */
void cli_result_free (CliResult *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CliResult, cli_result_free)

/** Fails, with all that was printed, unless the status is @status. */
void cli_assert_status (const CliResult *result, int status);
/** Fails unless standard error is, behind warnings, one line that begins with "gantry-cli" and holds @what, and standard output is empty. */
void cli_assert_one_error (const CliResult *result, const char *what);
/** The one JSON object on standard output. (transfer full) */
JsonNode *cli_json (const CliResult *result);

char *cli_program (void);              /* path of gantry-cli */
char *cli_own_file (const char *name); /* data/models/@name */
/** A file of the data folder beside the tree. NULL and the test skipped when it is not there. */
char *cli_shared_file (const char *folder, const char *name);
char *cli_temporary_folder (void);
void cli_remove_folder (char *path); /* (transfer full) */
