/* SPDX-License-Identifier: Apache-2.0 */
/* Which values between kernels lie in a blocked layout: channels in blocks of a vector's width,
 * innermost (oneDNN's nChw8c). It has as many bytes as the plain one, so that nobody but the kernels
 * that write and read such a value needs to know. */
#pragma once
#include "core/expr/storage.h"
#include "core/kernels/program/node-kernel.h"

G_BEGIN_DECLS

/** Who computes convolutions. */
typedef enum
{
  GANTRY_CONVOLVES_LIBRARY, /* oneDNN: f32, the input and the result in the same layout; weights are packed by it */
  GANTRY_CONVOLVES_GPU,     /* tensor cores: f16 and bf16, channels that are fetched 16 bytes at a time; any result */
} GantryConvolves;

/**
 * gantry_layouts_choose:
 * @block: channels of a block: 8 or 16
 *
 * Convolutions are much faster on blocked values, and everything elementwise does not mind. Values that may have bytes in
 * common (gantry_node_may_share()) get one layout, whatever the plan makes of it. What leaves the program, is looked at as another shape, or goes to a kernel
 * that knows only plain layouts stays plain.
 *
 * Returns: (transfer full): per node id, module->n_index of them: 1 where the value is blocked
 */
guint8 *gantry_layouts_choose (const GantryModule *module, guint block, GantryConvolves by);

G_END_DECLS
