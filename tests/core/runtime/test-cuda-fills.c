/* SPDX-License-Identifier: Apache-2.0 */
/* Literals written out on the CUDA device: by the GPU itself, by copies, and within a graph. */
#include "tests/core/runtime/stand-in.h"

static StandIn stand_in;

static void
test_fills (void)
{
  static const struct
  {
    GantryElementType element;
    guint64 value;
    const char *by; /* the driver's function that must do it */
  } cases[] = {
    { GANTRY_U8, 0xab, "cuMemsetD8Async" },          { GANTRY_F16, 0x3c01, "cuMemsetD16Async" },
    { GANTRY_F32, 0x3f800001, "cuMemsetD32Async" },  { GANTRY_I64, 0, "cuMemsetD32Async" },
    { GANTRY_I64, G_MAXUINT64, "cuMemsetD32Async" }, { GANTRY_F64, G_GUINT64_CONSTANT (0x3ff0000000000001), "cuMemcpyAsync" },
  };
  g_autoptr (GantryContext) context = gantry_context_new ();
  GantryDevice *device;
  gint64 n = 1000;

  stand_in.configure (NULL);
  device = stand_in_device ();
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const GantryType *type = gantry_context_type (context, gantry_context_tensor (context, cases[i].element, 1, &n));
      gsize size = gantry_element_size (cases[i].element), bytes = size * (gsize) n;
      g_autoptr (GBytes) value = g_bytes_new (&cases[i].value, size);
      g_autoptr (GantryLiteral) splat = gantry_literal_new (type, value, TRUE, NULL);
      g_autoptr (GError) error = NULL;
      g_autofree guint8 *expected = g_malloc (bytes), *got = g_malloc0 (bytes);
      void *memory = gantry_device_allocate (device, GANTRY_MEMORY_DEVICE, bytes, &error);
      GantryCommand command = { .kind = GANTRY_COMMAND_FILL, .stamp = GANTRY_NO_STAMP };
      GantryBatch *batch = gantry_device_begin (device, 0, NULL, NULL);
      guint calls = stand_in.calls (cases[i].by);

      command.fill.to = memory;
      command.fill.literal = splat;
      gantry_batch_submit (device, batch, GANTRY_QUEUE_COMPUTE, &command, 1);
      gantry_device_finish (device, batch, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (stand_in.calls (cases[i].by), ==, calls + 1);
      g_assert_true (gantry_device_download (device, got, memory, bytes, &error));
      gantry_literal_copy_to (splat, expected);
      g_assert_cmpmem (got, bytes, expected, bytes);
      gantry_device_deallocate (device, GANTRY_MEMORY_DEVICE, memory, bytes);
    }
  stand_in_end_device (&stand_in, device);
}

static void
run_fills (GantryDevice *device, const GantryCommand *commands, guint n)
{
  g_autoptr (GError) error = NULL;
  GantryBatch *batch = gantry_device_begin (device, 0, NULL, NULL);

  gantry_batch_submit (device, batch, GANTRY_QUEUE_COMPUTE, commands, n);
  gantry_device_finish (device, batch, &error);
  g_assert_no_error (error);
}

/* What a graph copies lies in pinned memory of its own: the driver takes no other. */
static void
test_fills_in_graphs (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  gint64 n = 1000;
  const GantryType *type = gantry_context_type (context, gantry_context_tensor (context, GANTRY_F64, 1, &n));
  g_autoptr (GBytes) value = g_bytes_new (&(double){ 1.0 / 3 }, 8);
  GantryLiteral *literals[2] = { gantry_literal_new (type, value, TRUE, NULL), NULL };
  g_autofree double *expected = g_new (double, 2 * n), *got = g_new (double, 2 * n);
  GantryCommand commands[2] = { { .kind = GANTRY_COMMAND_FILL, .stamp = GANTRY_NO_STAMP } };
  GantryDevice *device;
  g_auto (GStrv) notes = NULL;
  guint made, replayed;
  double *memory;
  guint8 *data;

  stand_in.configure (NULL);
  device = stand_in_device ();
  gantry_cuda_device_set_graphs (device, TRUE);
  literals[1] = gantry_literal_new_zeroed (type, &data);
  for (gint64 i = 0; i < n; i++)
    memcpy (data + 8 * i, &(double){ (double) i + 0.1 }, 8);
  memory = gantry_device_allocate (device, GANTRY_MEMORY_DEVICE, 16 * (gsize) n, NULL);
  commands[1] = commands[0];
  for (guint i = 0; i < 2; i++)
    {
      commands[i].fill.to = memory + i * (gsize) n;
      commands[i].fill.literal = literals[i];
      gantry_literal_copy_to (literals[i], (guint8 *) (expected + i * (gsize) n));
    }
  for (guint round = 0; round < 5; round++)
    {
      memset (got, 0, 16 * (gsize) n);
      g_assert_true (gantry_device_upload (device, memory, got, 16 * (gsize) n, NULL));
      run_fills (device, commands, 2);
      g_assert_true (gantry_device_download (device, got, memory, 16 * (gsize) n, NULL));
      g_assert_cmpmem (got, 16 * (gsize) n, expected, 16 * (gsize) n);
      /* One command by itself is none. */
      run_fills (device, commands, 1);
    }
  gantry_cuda_device_get_graphs (device, &made, &replayed);
  g_assert_cmpuint (made, ==, 1);
  g_assert_cmpuint (replayed, ==, 3);
  notes = gantry_cuda_device_get_notes (device);
  g_assert_cmpuint (g_strv_length (notes), ==, 0);
  gantry_device_deallocate (device, GANTRY_MEMORY_DEVICE, memory, 16 * (gsize) n);
  gantry_literal_unref (literals[0]);
  gantry_literal_unref (literals[1]);
  stand_in_end_device (&stand_in, device);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  stand_in = stand_in_load ();
  g_test_add_func ("/runtime/cuda-fills/fills", test_fills);
  g_test_add_func ("/runtime/cuda-fills/in-graphs", test_fills_in_graphs);
  return g_test_run ();
}
