/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's assembler ptxas, where the user has installed it: from PTX to machine code of a GPU. It runs in a child
 * process; what it made is kept by content. Without it images are text, which the driver assembles. */
#pragma once
#include "core/plan/executable.h"
#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct
{
  char *path;
  char *version; /* "13.0.88" */
} GantryPtxas;

/**
 * gantry_ptxas_find:
 *
 * Looks at the variable GANTRY_PTXAS (a path; empty: do as if there were none), in $CUDA_HOME/bin, in PATH and in
 * /usr/local/cuda/bin. Returns: (transfer full) (nullable)
 */
GantryPtxas *gantry_ptxas_find (void);
void gantry_ptxas_free (GantryPtxas *ptxas);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryPtxas, gantry_ptxas_free)

/**
 * gantry_ptxas_assemble:
 * @arch: "sm_90a"
 * @cache_folder: (nullable): made when it is not there; an entry that is not whole is made anew
 * @image: (out caller-allocates): set on success; its `assemble_ms` is 0 when it comes from the folder
 *
 * Safe from any thread. Returns: FALSE and %GANTRY_ERROR_FAILED with the assembler's first words, or
 * %G_IO_ERROR_CANCELLED
 */
gboolean gantry_ptxas_assemble (const GantryPtxas *ptxas, const char *ptx, const char *arch, const char *cache_folder, GCancellable *cancellable,
                                GantryGpuImage *image, GError **error);
/** An image that is the text itself. */
void gantry_gpu_image_init_text (GantryGpuImage *image, const char *ptx, const char *arch);

/** Reads what `ptxas -v` prints: the largest figures of all functions. For tests too. */
void gantry_ptxas_read_report (const char *report, GantryGpuImage *image);

G_END_DECLS
