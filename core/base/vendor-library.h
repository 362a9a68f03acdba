/* SPDX-License-Identifier: Apache-2.0 */
/* Where libraries of a vendor lie that no package of the system installs: the driver's in containers, the toolkit's own places, and
 * those of wheels that pip installs. Only places are told: who needs a library loads it. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/**
 * gantry_vendor_library_paths:
 * @root: (nullable): "/" unless a test has one of its own
 * @names: file names, the best first, ends with %NULL: "libcupti.so.13", "libcupti.so.12"
 *
 * For each name the name by itself (the loader's own search comes first), then files that are there: under $CUDA_HOME, in
 * /usr/local/nvidia (containers), /usr/lib/wsl (Windows), /usr/local/cuda and its versions, and nvidia/PACKAGE/lib of the
 * site-packages of $VIRTUAL_ENV, $CONDA_PREFIX, the user, the python3 of $PATH and the system.
 *
 * Returns: (transfer full): paths for dlopen(), ends with %NULL
 */
char **gantry_vendor_library_paths (const char *root, const char *const *names);

G_END_DECLS
