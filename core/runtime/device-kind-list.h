/* SPDX-License-Identifier: Apache-2.0 */
/* gantry: table
 * The one list of kinds of devices, in the order in which `gantry-cli devices` lists them: a kind is a folder of core/runtime, which is
 * compiled for its row, and the GantryDeviceKind gantry_device_kind_<name> that it defines.
 *
 * GANTRY_DEVICE_KIND_LIST (KIND) is rows of KIND (folder, name) */
#pragma once

#define GANTRY_DEVICE_KIND_LIST(KIND) \
  KIND (cpu, cpu) \
  KIND (cpu, grid) /* what is made for a GPU, on the processor */ \
  KIND (cuda, cuda)
