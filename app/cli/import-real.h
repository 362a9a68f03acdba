/* SPDX-License-Identifier: Apache-2.0 */
/* gantry-cli import --real: a program run by the user's own Python, for what it shows by the module `gantry`. */
#pragma once
#include "core/base/scratch.h"
#include <gio/gio.h>

/**
 * gantry_cli_show_real:
 * @program: path of a Python program
 * @python: (nullable): interpreter; default: that of $VIRTUAL_ENV, else python3
 * @entry: (nullable): name of the function to take, where it shows several
 * @scratch: where the module writes; what is returned lies in it
 *
 * What the program prints goes to standard error. Returns: (transfer full) (nullable): the file of what it shows
 */
char *gantry_cli_show_real (const char *program, const char *python, const char *entry, const GantryScratch *scratch, GError **error);
