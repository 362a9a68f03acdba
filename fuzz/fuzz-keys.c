/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of what people write by hand: key files of targets and of training, sizes of the command line and the values
 * that inputs are given. Each reader gets the same text; what it takes, it writes so that it reads the same again. */

#include "core/compiler/bindings.h"
#include "core/compiler/settings.h"
#include "core/document/size.h"
#include "core/graph/input-values.h"
#include "core/graph/text.h"
#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
try_target (const guint8 *data, gsize size)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL, *twice = NULL;
  GantryTarget target, again;

  gantry_target_init_cpu (&target, 2);
  gantry_target_init_cpu (&again, 2);
  g_assert (gantry_target_parse (&target, (const char *) data, (gssize) size, &error) == (error == NULL));
  g_assert (target.peak_flops > 0 && target.memory_bandwidth > 0 && target.link_bandwidth > 0 && target.launch_us >= 0);
  g_assert (isfinite (target.peak_flops) && isfinite (target.memory_bandwidth) && isfinite (target.link_bandwidth));
  if (error != NULL)
    return;
  text = gantry_target_to_text (&target);
  if (!gantry_target_parse (&again, text, -1, &error))
    g_error ("what was written does not read: %s\n%s", error->message, text);
  twice = gantry_target_to_text (&again);
  g_assert_cmpstr (text, ==, twice);
}

static void
try_training (const guint8 *data, gsize size)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL, *twice = NULL;
  GantryTrainingOptions options, again;

  gantry_training_options_init (&options);
  gantry_training_options_init (&again);
  g_assert (gantry_training_options_parse (&options, (const char *) data, (gssize) size, &error) == (error == NULL));
  if (error == NULL)
    {
      text = gantry_training_options_to_text (&options);
      if (!gantry_training_options_parse (&again, text, -1, &error))
        g_error ("what was written does not read: %s\n%s", error->message, text);
      twice = gantry_training_options_to_text (&again);
      g_assert_cmpstr (text, ==, twice);
    }
  gantry_training_options_clear (&options);
  gantry_training_options_clear (&again);
}

static void
try_size (const char *text)
{
  g_autoptr (GError) error = NULL;
  GantrySize parsed = { 0 };

  g_assert (gantry_size_parse (text, &parsed, &error) == (error == NULL));
  g_assert (error != NULL || parsed.part == 0 || (parsed.part > 0 && parsed.part <= 10));
  g_assert (parsed.bytes < G_GUINT64_CONSTANT (1) << 60);
}

static void
try_value (const char *text)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  const GantryType *any = gantry_context_type (context, 0); /* the unknown one */
  const GantryDim dims[] = { 2, 2 };
  const GantryType *floats = gantry_context_type (context, gantry_context_tensor (context, GANTRY_F32, 2, dims));

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryLiteral) literal = gantry_literal_from_text (context, text, i == 0 ? any : floats, &error);

      g_assert ((literal == NULL) == (error != NULL));
      if (literal != NULL && gantry_type_bytes (literal->type) <= 1 << 16)
        {
          g_autofree char *again_text = gantry_literal_to_text (context, literal);
          g_autoptr (GantryLiteral) again = gantry_literal_from_text (context, again_text, literal->type, &error);

          if (again == NULL)
            g_error ("what was written does not read: %s\n%s", error->message, again_text);
        }
    }
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autofree char *text = g_strndup ((const char *) data, size);

  try_target (data, size);
  try_training (data, size);
  try_size (text);
  try_value (text);
  return 0;
}
