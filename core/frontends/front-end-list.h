/* SPDX-License-Identifier: Apache-2.0 */
/* gantry: table
 * The one list of front ends that read files, in the order in which they are asked: one is a folder of core/frontends, which is built for
 * its row, and the GantryFrontEnd gantry_front_end_<folder> that it defines. Beside them core/compiler reads Gantry's own text, Python
 * programs, which run in a child, and takes for ONNX what nobody else reads.
 *
 * GANTRY_FRONT_END_LIST (FRONT_END) is rows of FRONT_END (folder) */
#pragma once

#define GANTRY_FRONT_END_LIST(FRONT_END) \
  FRONT_END (xla) \
  FRONT_END (mindspore) \
  FRONT_END (torch)
