/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every layout must satisfy, whatever the graph.
 */
#pragma once

#include "drawing/layout/layout.h"

/* Fails the test that is running if the layout breaks a promise that layout.h makes. */
void layout_check (const GantryLayoutInput *input, const GantryLayout *layout);

/* Fails unless both are the same, bit for bit. */
void layout_check_same (const GantryLayout *a, const GantryLayout *b);
