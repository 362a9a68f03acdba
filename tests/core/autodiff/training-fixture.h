/* SPDX-License-Identifier: Apache-2.0 */
/* What another program computed for a training step: tests/fixtures/gradients. */
#pragma once
#include "tests/core/autodiff/training-test.h"
#include <json-glib/json-glib.h>

/** tests/fixtures/gradients/NAME.json. (transfer none): of @parser */
JsonObject *training_fixture_load (const char *name, JsonParser *parser);
/** Loss, optimizer and numbers of the fixture; @with_optimizer FALSE: for its gradients. */
GantryTrainingOptions training_fixture_options (JsonObject *fixture, gboolean with_optimizer);
/** Fails unless they differ by at most @tolerance of @scale. */
void training_fixture_compare (double found, double expected, double scale, double tolerance, const char *what);
/** The largest difference of the products of @got with random vectors, and of the elements that were kept, from those of
 *  member @name of @all, by its norm; a norm counts at least a thousandth of the largest in @all. */
double training_fixture_distance (const GantryLiteral *got, JsonObject *all, const char *name);
/** Fails unless training_fixture_distance() is at most @tolerance. */
void training_fixture_compare_tensor (const GantryLiteral *got, JsonObject *all, const char *name, double tolerance);
/** Results @first.. of @step against the members of @wanted, one for each entry parameter with role "parameter". Each by
 *  its norm. */
void training_fixture_compare_all (const GantryModule *step, const TrainingValues *results, guint first, JsonObject *wanted, double tolerance);
