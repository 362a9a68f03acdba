/* SPDX-License-Identifier: Apache-2.0 */
/* Machine code of a GPU as text, by a disassembler that is installed; Gantry brings none. */
#pragma once
#include <gio/gio.h>

G_BEGIN_DECLS

/** Path of nvdisasm or cuobjdump: in $PATH, in $CUDA_HOME/bin, in /usr/local/cuda/bin. (transfer full) (nullable) */
char *gantry_disassembler_find (void);
/**
 * gantry_disassemble_async:
 * @program: what gantry_disassembler_find() gave
 * @cubin: a cubin
 *
 * Runs it in a child of its own, on a private file that is gone afterwards.
 */
void gantry_disassemble_async (const char *program, GBytes *cubin, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
/** Returns: (transfer full) (nullable): the text; @error says what the program said */
char *gantry_disassemble_finish (GAsyncResult *result, GError **error);

G_END_DECLS
