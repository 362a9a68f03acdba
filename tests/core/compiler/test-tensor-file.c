/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors in numpy files: every element type that is compiled comes back bit for bit, splats and empty ones too. */
#include "core/compiler/tensor-file.h"
#include "core/graph/graph.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

typedef struct
{
  char *folder, *path;
} Place;

static void
set_up (Place *place, gconstpointer data)
{
  place->folder = g_dir_make_tmp ("gantry-test-XXXXXX", NULL);
  place->path = g_build_filename (place->folder, "x.npy", NULL);
}

static void
tear_down (Place *place, gconstpointer data)
{
  g_unlink (place->path);
  g_assert_cmpint (g_rmdir (place->folder), ==, 0);
  g_free (place->folder);
  g_free (place->path);
}

static void
assert_round_trip (const Place *place, GantryContext *context, const GantryLiteral *literal)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryLiteral) read = NULL;

  gantry_tensor_file_write_npy (literal, place->path, &error);
  g_assert_no_error (error);
  read = gantry_tensor_file_read (context, place->path, literal->type, &error);
  g_assert_no_error (error);
  g_assert_true (gantry_type_same_shape (read->type, literal->type));
  for (gint64 i = 0; i < gantry_type_elements (literal->type); i++)
    g_assert_cmpint (gantry_literal_get_int (read, i), ==, gantry_literal_get_int (literal, i));
  for (gint64 i = 0; i < gantry_type_elements (literal->type); i++)
    g_assert_cmpfloat (gantry_literal_get_double (read, i), ==, gantry_literal_get_double (literal, i));
}

static void
test_round_trip (Place *place, gconstpointer data)
{
  for (guint element = GANTRY_BOOL; element <= GANTRY_F64; element++)
    for (GantryDim n = 0; n < 1500; n = n * 7 + 3)
      {
        g_autoptr (GantryContext) context = gantry_context_new ();
        const GantryDim dims[] = { 2, n };
        const GantryType *type = gantry_context_type (context, gantry_context_tensor (context, element, 2, dims));
        g_autoptr (GantryLiteral) dense = NULL, splat = NULL;
        g_autoptr (GBytes) one = g_bytes_new_static ("\1\0\0\0\0\0\0\0", gantry_element_size (element));
        guint8 *bytes;

        dense = gantry_literal_new_zeroed (type, &bytes);
        for (gint64 i = 0; i < 2 * n; i++)
          gantry_element_write_double (element, bytes + (gsize) i * gantry_element_size (element), (double) (i % 2));
        assert_round_trip (place, context, dense);
        splat = gantry_literal_new (type, one, TRUE, NULL);
        assert_round_trip (place, context, splat);
      }
}

/* numpy reads bf16 as numbers: the file says float32. */
static void
test_bf16 (Place *place, gconstpointer data)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  const GantryDim two = 2;
  const GantryType *type = gantry_context_type (context, gantry_context_tensor (context, GANTRY_BF16, 1, &two));
  const GantryType *wide = gantry_context_type (context, gantry_context_tensor (context, GANTRY_F32, 1, &two));
  g_autoptr (GantryLiteral) literal = NULL, between = NULL, read = NULL;
  g_autofree char *file = NULL;
  gsize length;
  float values[2];
  guint8 *bytes;

  literal = gantry_literal_new_zeroed (type, &bytes);
  gantry_element_write_double (GANTRY_BF16, bytes, 1.5);
  gantry_element_write_double (GANTRY_BF16, bytes + 2, -INFINITY);
  g_assert_true (gantry_tensor_file_write_npy (literal, place->path, NULL));
  g_assert_true (g_file_get_contents (place->path, &file, &length, NULL));
  g_assert_nonnull (strstr (file + 10, "'<f4'")); /* after the magic, which holds a NUL */
  memcpy (values, file + length - sizeof values, sizeof values);
  g_assert_cmpfloat (values[0], ==, 1.5f);
  g_assert_cmpfloat (values[1], ==, -INFINITY);
  /* What bf16 has not stays f32, and is then refused by its type. */
  between = gantry_literal_new_zeroed (wide, &bytes);
  gantry_element_write_double (GANTRY_F32, bytes, 1.0000001);
  g_assert_true (gantry_tensor_file_write_npy (between, place->path, NULL));
  read = gantry_tensor_file_read (context, place->path, type, NULL);
  g_assert_cmpuint (read->type->element, ==, GANTRY_F32);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/tensor-file/round-trip", Place, NULL, set_up, test_round_trip, tear_down);
  g_test_add ("/tensor-file/bf16", Place, NULL, set_up, test_bf16, tear_down);
  return g_test_run ();
}
