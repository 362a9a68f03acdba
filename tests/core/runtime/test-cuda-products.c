/* SPDX-License-Identifier: Apache-2.0 */
/* A product in all four layouts and as a batch: by cuBLASLt where that is faster by its measure, else by the own kernel, which
 * here writes something else so that the two can be told apart. */
#include "tests/core/runtime/fake.h"
#include "tests/core/runtime/stand-in.h"
#include <glib/gstdio.h>

static StandIn stand_in;

typedef struct
{
  gulong us;
} Own;

static void
own_product (gconstpointer state, void *const *buffers, gint64 begin, gint64 end)
{
  g_usleep (((const Own *) state)->us);
  for (guint i = 0; i < 2 * 3 * 5; i++)
    ((float *) buffers[2])[i] = -1;
}

static GantryExecutable *
with_product (const Own *own, guint layout)
{
  Fake f = fake_begin ();
  guint32 a = fake_value (&f, TRUE, 2 * 3 * 4, "a"), b = fake_value (&f, TRUE, 2 * 4 * 5, "b");
  guint32 c = fake_value (&f, FALSE, 2 * 3 * 5, "c");
  guint32 ba = fake_buffer (&f, a, GANTRY_BUFFER_INPUT, 0, 24, 0, 0), bb = fake_buffer (&f, b, GANTRY_BUFFER_INPUT, 128, 40, 0, 0);
  guint32 bc = fake_buffer (&f, c, GANTRY_BUFFER_OUTPUT, 320, 30, 0, 0);
  GantryGpuProduct product = { .a = 0,
                               .b = 1,
                               .c = 2,
                               .element = GANTRY_F32,
                               .result = GANTRY_F32,
                               .a_transposed = layout & 1,
                               .b_transposed = layout >> 1 & 1,
                               .m = 3,
                               .n = 5,
                               .k = 4,
                               .batch = 2,
                               .a_stride = 12,
                               .b_stride = 20,
                               .c_stride = 15 };
  GantryExecutable *executable;

  fake_launch (&f, c, 0, own_product, (gpointer) own, 1, FAKE_BUFFERS (ba, bb, bc));
  executable = fake_end (&f, 1, &bc);
  stand_in_convert (executable);
  executable->kernels[0].gpu->product = g_memdup2 (&product, sizeof product);
  return executable;
}

static void
run_product (GantryDevice *device, const Own *own, guint layout, gboolean by_library)
{
  g_autoptr (GantryExecutable) executable = with_product (own, layout);
  GantryExecutor *executor = stand_in_executor (device, executable);
  float a[24], b[40], c[30];
  GantryRunInput inputs[2] = { { a, sizeof a }, { b, sizeof b } };
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 40; i++)
    {
      a[i % 24] = (float) (i % 24);
      b[i] = (float) (i * i % 7);
    }
  for (guint round = 0; round < 3; round++)
    {
      memset (c, 0, sizeof c);
      gantry_executor_run (executor, inputs, 2, &(GantryRunOutput){ c, sizeof c }, 1, NULL, NULL, &error);
      g_assert_no_error (error);
    }
  for (guint i = 0; i < 30; i++)
    {
      guint batch = i / 15, row = i / 5 % 3, column = i % 5;
      float sum = 0;

      for (guint k = 0; k < 4; k++)
        sum += a[batch * 12 + (layout & 1 ? k * 3 + row : row * 4 + k)] * b[batch * 20 + (layout & 2 ? column * 4 + k : k * 5 + column)];
      g_assert_cmpfloat (c[i], ==, by_library ? sum : -1);
    }
  gantry_executor_free (executor);
}

static void
test_products (void)
{
  static const Own slow = { 10000 }, fast = { 0 };
  g_autoptr (GantryExecutable) executable = with_product (&slow, 0);
  GantryDevice *device;

  g_setenv ("GANTRY_LIBCUBLASLT", FAKE_LIBCUDA, TRUE);
  stand_in.configure (NULL);
  device = stand_in_device ();
  run_product (device, &slow, 0, FALSE); /* nobody asked for it */
  gantry_cuda_device_set_library (device, TRUE, NULL);
  for (guint layout = 0; layout < 4; layout++)
    run_product (device, &slow, layout, TRUE);
  gantry_cuda_device_set_graphs (device, TRUE);
  run_product (device, &slow, 1, TRUE);
  gantry_cuda_device_set_graphs (device, FALSE);
  /* What was measured once is kept for all of that shape. */
  run_product (device, &fast, 0, TRUE);
  stand_in_end_device (&stand_in, device);
  /* One that does not run is not taken. */
  stand_in.configure ("blas=15");
  device = stand_in_device ();
  gantry_cuda_device_set_library (device, TRUE, NULL);
  run_product (device, &slow, 0, FALSE);
  stand_in_end_device (&stand_in, device);
  /* And where it is not installed nothing is said. */
  g_setenv ("GANTRY_LIBCUBLASLT", "/nowhere/libcublasLt.so.13", TRUE);
  stand_in.configure (NULL);
  device = stand_in_device ();
  gantry_cuda_device_set_library (device, TRUE, NULL);
  run_product (device, &slow, 0, FALSE);
  stand_in_end_device (&stand_in, device);
}

/* What one process chose others choose too, whatever they would measure. */
static void
test_kept (void)
{
  static const Own slow = { 10000 }, fast = { 0 };
  g_autofree char *folder = g_dir_make_tmp ("gantry-products-XXXXXX", NULL), *below = g_build_filename (folder, "products", NULL);
  const Own *then[] = { &fast, &slow };
  const char *name;
  GDir *dir;

  g_setenv ("GANTRY_LIBCUBLASLT", FAKE_LIBCUDA, TRUE);
  for (guint i = 0; i < 2; i++)
    {
      GantryDevice *device;

      /* Another shape each; the second is one that the library does not run, at first. */
      stand_in.configure (i == 0 ? NULL : "blas=15");
      device = stand_in_device ();
      gantry_cuda_device_set_library (device, TRUE, below);
      run_product (device, &slow, i, i == 0);
      g_assert_cmpuint (stand_in.calls ("cublasLtMatmulAlgoGetHeuristic"), ==, 1);
      stand_in_end_device (&stand_in, device);
      stand_in.configure (NULL);
      device = stand_in_device ();
      gantry_cuda_device_set_library (device, TRUE, below);
      run_product (device, then[i], i, i == 0);
      g_assert_cmpuint (stand_in.calls ("cublasLtMatmulAlgoGetHeuristic"), ==, 0);
      stand_in_end_device (&stand_in, device);
    }
  dir = g_dir_open (below, 0, NULL);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (below, name, NULL);

      /* What is damaged is measured again. */
      g_assert_true (g_file_set_contents (path, "library 0 1", -1, NULL));
    }
  g_dir_rewind (dir);
  stand_in.configure (NULL);
  {
    GantryDevice *device = stand_in_device ();

    gantry_cuda_device_set_library (device, TRUE, below);
    run_product (device, &slow, 0, TRUE);
    g_assert_cmpuint (stand_in.calls ("cublasLtMatmulAlgoGetHeuristic"), ==, 1);
    stand_in_end_device (&stand_in, device);
  }
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (below, name, NULL);

      g_remove (path);
    }
  g_dir_close (dir);
  g_rmdir (below);
  g_rmdir (folder);
}

/* One that worked when it was chosen and then does not: the own kernel does it, and it is told once. */
static void
test_fails_later (void)
{
  static const Own slow = { 1000 };

  for (guint graphs = 0; graphs < 2; graphs++)
    {
      g_autoptr (GantryExecutable) executable = with_product (&slow, 0);
      g_autoptr (GError) error = NULL;
      g_auto (GStrv) notes = NULL;
      GantryDevice *device;
      GantryExecutor *executor;
      float a[24] = { 0 }, b[40] = { 0 }, c[30];
      GantryRunInput inputs[2] = { { a, sizeof a }, { b, sizeof b } };

      g_setenv ("GANTRY_LIBCUBLASLT", FAKE_LIBCUDA, TRUE);
      stand_in.configure (NULL);
      device = stand_in_device ();
      gantry_cuda_device_set_graphs (device, graphs);
      gantry_cuda_device_set_library (device, TRUE, NULL);
      executor = stand_in_executor (device, executable);
      stand_in.configure ("blas=13");
      for (guint round = 0; round < 4; round++)
        {
          memset (c, 0, sizeof c);
          gantry_executor_run (executor, inputs, 2, &(GantryRunOutput){ c, sizeof c }, 1, NULL, NULL, &error);
          g_assert_no_error (error);
          for (guint i = 0; i < 30; i++)
            g_assert_cmpfloat (c[i], ==, -1);
        }
      notes = gantry_cuda_device_get_notes (device);
      g_assert_cmpuint (g_strv_length (notes), ==, 1);
      g_assert_cmpstr (notes[0], ==, "cuBLASLt does not run kernel 'kernel_0' (status 13): the program's own does.");
      gantry_executor_free (executor);
      stand_in_end_device (&stand_in, device);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  stand_in = stand_in_load ();
  g_test_add_func ("/runtime/cuda-products/products", test_products);
  g_test_add_func ("/runtime/cuda-products/kept", test_kept);
  g_test_add_func ("/runtime/cuda-products/fails-later", test_fails_later);
  return g_test_run ();
}
