/* SPDX-License-Identifier: Apache-2.0 */
/* One row for each rule that is tested by hand: operands, attributes, and the results computed on
 * paper from the ONNX operator specification. */
#pragma once
#include <glib.h>

#define LOWER_MOST_VALUES 9

/**
 * LowerCase:
 * @attrs: "axis=1 alpha=0.5 mode=floor pads=0,1,0,1 scales=1.0,2.0": whole numbers, numbers with a point, words, lists
 * @operands: "f32[2,2] 1 2 3 4"; a '=' in front makes it a constant, "-" leaves it out; up to a NULL
 * @results: likewise; or one "!message" when the rule must refuse
 */
typedef struct
{
  const char *op;
  int opset;
  const char *attrs;
  const char *operands[LOWER_MOST_VALUES];
  const char *results[LOWER_MOST_VALUES];
} LowerCase;

extern const LowerCase lower_cases[];
extern const guint n_lower_cases;
