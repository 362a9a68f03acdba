/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the pass fuse share. */
#pragma once
#include "core/ir/rewriter.h"
#include "core/passes/passes.h"

G_BEGIN_DECLS

/** By position: 1 + position of the reduction over innermost dimensions that the node is (or computes with, one number for each
 *  row), where all of that ends in broadcasts to the whole; 0: none. (transfer full) */
guint32 *_gantry_fuse_find_rows (const GantryModule *module, const GantryUses *uses);

G_END_DECLS
