/* SPDX-License-Identifier: Apache-2.0 */
#include "core/frontends/onnx/onnx-lower.h"
const GantryLowerRule gantry_lower_signal_rules[] = { { NULL } };
