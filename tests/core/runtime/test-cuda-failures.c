/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA device where something is missing or breaks: a clear message each, nothing hangs, nothing is lost that was there. */
#include "core/base/error.h"
#include "core/base/vendor-library.h"
#include "core/runtime/cuda/driver-private.h"
#include "tests/core/runtime/fake.h"
#include "tests/core/runtime/stand-in.h"
#include <glib/gstdio.h>

#define N 1000

static StandIn stand_in;
static const float two = 2;

/* @part... all are in the message */
static void
expect_message (const GError *error, int code, const char *const *parts)
{
  g_assert_error (error, GANTRY_ERROR, code);
  g_test_message ("%s", error->message);
  for (guint i = 0; parts[i] != NULL; i++)
    if (strstr (error->message, parts[i]) == NULL)
      g_error ("'%s' is not in: %s", parts[i], error->message);
}
#define EXPECT(error, code, ...) expect_message ((error), (code), (const char *const[]){ __VA_ARGS__, NULL })

/* x -> a = 2x -> host -> back as b -> r = b + 3x */
static GantryExecutable *
program (void)
{
  GantryExecutable *executable = fake_pipeline (N);

  stand_in_convert (executable);
  return executable;
}

static gboolean
run (GantryExecutor *executor, const float *x, float *r, GError **error)
{
  GantryObserver observer = { 0 };

  return gantry_executor_run (executor, &(GantryRunInput){ x, 4 * N }, 1, &(GantryRunOutput){ r, 4 * N }, 1, &observer, NULL, error);
}

/* No driver, and drivers of no use. */

static void
expect_none (int code, const char *a, const char *b, const char *c)
{
  g_autoptr (GError) error = NULL, same = NULL;

  g_assert_null (gantry_cuda_device_new (0, &error));
  EXPECT (error, code, a, b, c);
  g_assert_null (gantry_cuda_probe (&same));
  EXPECT (same, code, a, b, c);
  g_assert_cmpuint (stand_in.alive (), ==, 0);
}

static void
test_no_driver (void)
{
  g_autofree char *empty = g_build_filename (g_get_tmp_dir (), "gantry-no-libcuda.so.1", NULL);

  g_remove (empty);
  g_setenv ("GANTRY_LIBCUDA", empty, TRUE);
  expect_none (GANTRY_ERROR_UNSUPPORTED, "no NVIDIA driver", empty, "run on the processor");
  /* Some other library. */
  g_setenv ("GANTRY_LIBCUDA", "libc.so.6", TRUE);
  expect_none (GANTRY_ERROR_UNSUPPORTED, "too old", "knows CUDA 0.0", "525");
  g_setenv ("GANTRY_LIBCUDA", FAKE_LIBCUDA, TRUE);
}

/* Where it is looked for when nobody says where. */
static void
test_not_installed (void)
{
  static const char *const names[] = { "libcuda.so.1", NULL };
  g_auto (GStrv) places = gantry_vendor_library_paths (NULL, names);
  void *there = dlopen ("libcuda.so.1", RTLD_NOW);
  g_autoptr (GError) error = NULL;

  if (there != NULL || g_strv_length (places) > 1)
    {
      g_test_skip ("a driver is installed here");
      return;
    }
  g_unsetenv ("GANTRY_LIBCUDA");
  g_assert_null (gantry_cuda_probe (&error));
  EXPECT (error, GANTRY_ERROR_UNSUPPORTED, "no NVIDIA driver", "libcuda.so.1", "/usr/local/nvidia/lib64", "/usr/lib/wsl/lib", "install");
  g_setenv ("GANTRY_LIBCUDA", FAKE_LIBCUDA, TRUE);
}

/* The toolkit's own stub, where there is one, and what the driver's stub answers. */
static void
test_stub (void)
{
  static const char *const stubs[] = { "/usr/local/cuda/lib64/stubs/libcuda.so", "/usr/local/cuda/lib/stubs/libcuda.so" };

  stand_in.configure ("init=34");
  expect_none (GANTRY_ERROR_UNSUPPORTED, "CUDA_ERROR_STUB_LIBRARY", "stub", "LD_LIBRARY_PATH");
  for (guint i = 0; i < G_N_ELEMENTS (stubs); i++)
    if (g_file_test (stubs[i], G_FILE_TEST_EXISTS))
      {
        g_setenv ("GANTRY_LIBCUDA", stubs[i], TRUE);
        expect_none (GANTRY_ERROR_UNSUPPORTED, "the toolkit's stub", "take its folder", "install NVIDIA's driver");
        break;
      }
  g_setenv ("GANTRY_LIBCUDA", FAKE_LIBCUDA, TRUE);
}

static void
test_too_old (void)
{
  stand_in.configure ("version=11080");
  expect_none (GANTRY_ERROR_UNSUPPORTED, "too old", "CUDA 11.8", "CUDA 12.0 is needed; install driver 525");
}

static void
test_no_device (void)
{
  stand_in.configure ("devices=0");
  g_unsetenv ("CUDA_VISIBLE_DEVICES");
  expect_none (GANTRY_ERROR_UNSUPPORTED, "CUDA_ERROR_NO_DEVICE", "no GPU is there", "run on the processor");
  stand_in.configure ("init=100");
  g_setenv ("CUDA_VISIBLE_DEVICES", "", TRUE);
  expect_none (GANTRY_ERROR_UNSUPPORTED, "CUDA_ERROR_NO_DEVICE", "CUDA_VISIBLE_DEVICES hides it", "run on the processor");
  g_unsetenv ("CUDA_VISIBLE_DEVICES");
}

static void
test_not_permitted (void)
{
  stand_in.configure ("init=800");
  expect_none (GANTRY_ERROR_FAILED, "CUDA_ERROR_NOT_PERMITTED", "this user may not use the GPU", "/dev/nvidia*");
  stand_in.configure ("init=999");
  expect_none (GANTRY_ERROR_FAILED, "CUDA_ERROR_UNKNOWN", "/dev/nvidiactl", "nvidia_uvm");
  stand_in.configure ("init=803");
  expect_none (GANTRY_ERROR_FAILED, "different versions", "restart", "");
}

/* What a program for the GPU needs of the machine beyond a driver that starts. */
static void
test_unusable (void)
{
  static const struct
  {
    const char *how;
    int ordinal, code;
    const char *a, *b;
  } cases[] = {
    { "retain=46,mode=3", 0, GANTRY_ERROR_FAILED, "another process holds it (exclusive mode)", "choose another GPU" },
    { "retain=101,mode=2", 0, GANTRY_ERROR_FAILED, "exclusive mode", "closed" },
    { "retain=2", 0, GANTRY_ERROR_NO_MEMORY, "no memory left for the driver itself", "nvidia-smi" },
    { "devices=1", 1, GANTRY_ERROR_INVALID, "there is no GPU 1: the only one is 0", "gantry-cli devices" },
    { "major=7,minor=5", 0, GANTRY_ERROR_UNSUPPORTED, "compute capability 7.5 where 8.0", "run on the processor" },
    { "fail=cuStreamCreate:2:2", 0, GANTRY_ERROR_NO_MEMORY, "making streams", "CUDA_ERROR_OUT_OF_MEMORY" },
    { "lose=cuStreamCreate:1:214", 0, GANTRY_ERROR_FAILED, "is lost", "could not correct" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;

      stand_in.configure (cases[i].how);
      g_assert_null (gantry_cuda_device_new (cases[i].ordinal, &error));
      EXPECT (error, cases[i].code, cases[i].a, cases[i].b);
      g_assert_cmpuint (stand_in.alive (), ==, 0);
    }
}

/* Memory. */

static void
test_no_memory (void)
{
  g_autoptr (GantryExecutable) executable = program ();
  g_autoptr (GError) error = NULL;
  GantryDevice *device;
  GantryExecutor *executor;
  float x[N] = { 1 }, r[N] = { 0 };
  void *other;

  stand_in.configure ("memory=8388608"); /* four pages of 2 MiB, as the driver gives them */
  device = gantry_cuda_device_new (0, NULL);
  other = gantry_device_allocate (device, GANTRY_MEMORY_DEVICE, 5 << 20, &error);
  g_assert_no_error (error);
  executor = gantry_executor_new (device, executable, NULL, &error);
  g_assert_no_error (error);
  g_assert_null (gantry_executor_new (device, executable, NULL, &error));
  EXPECT (error, GANTRY_ERROR_NO_MEMORY, "device memory of Stand-in GPU 0: 11.9", "needed in one piece where 0 B of 8.00", "this program holds 8.0",
          "the largest buffers at the peak: 'x' (3.9", "offload some of them");
  /* What is there goes on. */
  g_clear_error (&error);
  g_assert_true (run (executor, x, r, &error));
  g_assert_cmpfloat (r[0], ==, 5);
  gantry_device_deallocate (device, GANTRY_MEMORY_DEVICE, other, 5 << 20);
  gantry_executor_free (executor);
  /* Our own limit says so before the driver is asked. */
  gantry_device_set_limit (device, GANTRY_MEMORY_DEVICE, 1000);
  g_assert_null (gantry_executor_new (device, executable, NULL, &error));
  EXPECT (error, GANTRY_ERROR_NO_MEMORY, "where the limit is 1000 B", "'x' (3.9");
  g_clear_error (&error);
  gantry_device_set_limit (device, GANTRY_MEMORY_DEVICE, 0);
  gantry_device_unref (device);
  stand_in.configure ("pinned=100");
  device = gantry_cuda_device_new (0, NULL);
  g_assert_null (gantry_executor_new (device, executable, NULL, &error));
  EXPECT (error, GANTRY_ERROR_NO_MEMORY, "pinned", "the system has no 3.9", "left to pin", "'h' (3.9", "offload less");
  gantry_device_unref (device);
  g_assert_cmpuint (stand_in.alive (), ==, 0);
}

/* Code that the GPU or its driver does not take. */
static void
test_code (void)
{
  static const struct
  {
    const char *how, *text;
    int code;
    const char *a, *b;
  } cases[] = {
    { "fail=cuModuleLoadDataEx:1:209", NULL, GANTRY_ERROR_UNSUPPORTED, "a cubin for sm_90a", "580 or newer" },
    { "fail=cuModuleLoadDataEx:1:200,version=12040", NULL, GANTRY_ERROR_UNSUPPORTED, "driver for CUDA 12.4", "compile for this GPU" },
    { "fail=cuModuleLoadDataEx:1:222", ".version 9.9", GANTRY_ERROR_UNSUPPORTED, "PTX for sm_90a", "update the driver" },
    { "", "what is wrong here", GANTRY_ERROR_FAILED, "CUDA_ERROR_INVALID_PTX", "ptxas : error on line 7" },
    { "lose=cuModuleLoadDataEx:1:999", NULL, GANTRY_ERROR_FAILED, "is lost: loading code", "Xid" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GantryExecutable) executable = program ();
      g_autoptr (GError) error = NULL;
      GantryDevice *device;

      stand_in.configure (cases[i].how);
      device = gantry_cuda_device_new (0, NULL);
      if (cases[i].text != NULL)
        {
          g_bytes_unref (executable->images[0].code);
          executable->images[0].code = g_bytes_new (cases[i].text, strlen (cases[i].text) + 1);
          executable->images[0].is_text = TRUE;
        }
      g_assert_null (gantry_executor_new (device, executable, NULL, &error));
      EXPECT (error, cases[i].code, cases[i].a, cases[i].b);
      gantry_device_unref (device);
      g_assert_cmpuint (stand_in.alive (), ==, 0);
    }
  /* What is no code does not come to the driver at all. */
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GantryExecutable) executable = program ();
      g_autoptr (GError) error = NULL;
      GantryDevice *device;

      stand_in.configure (NULL);
      device = gantry_cuda_device_new (0, NULL);
      g_bytes_unref (executable->images[0].code);
      executable->images[0].code = g_bytes_new_static ("\177ELF", 4);
      executable->images[0].is_text = i == 1;
      g_assert_null (gantry_executor_new (device, executable, NULL, &error));
      EXPECT (error, GANTRY_ERROR_INVALID, i == 1 ? "PTX text with its final zero" : "no GPU code");
      g_assert_cmpuint (stand_in.calls ("cuModuleLoadDataEx"), ==, 0);
      gantry_device_unref (device);
    }
}

/* A device that goes while it runs. */

static void
test_lost (void)
{
  g_autoptr (GantryExecutable) executable = program ();
  GantryDevice *device;
  GantryExecutor *executor;
  float x[N], first[N], r[N] = { 0 };
  g_autofree char *message = NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < N; i++)
    x[i] = (float) i;
  stand_in.configure ("lose=cuLaunchKernelEx:5:700");
  device = gantry_cuda_device_new (0, NULL);
  executor = gantry_executor_new (device, executable, NULL, NULL);
  g_assert_true (run (executor, x, first, NULL));
  g_assert_false (run (executor, x, r, &error));
  EXPECT (error, GANTRY_ERROR_FAILED, "Stand-in GPU 0 is lost", "CUDA_ERROR_ILLEGAL_ADDRESS", "GANTRY_CUDA_CHECK=1", "what ran before stays");
  message = g_strdup (error->message);
  /* The results of the run before are whole. */
  for (guint i = 0; i < N; i++)
    g_assert_cmpfloat (first[i], ==, 5 * x[i]);
  /* Everything says the same from now on, and at once. */
  for (guint round = 0; round < 3; round++)
    {
      g_clear_error (&error);
      g_assert_false (run (executor, x, r, &error));
      g_assert_cmpstr (error->message, ==, message);
    }
  g_clear_error (&error);
  g_assert_null (gantry_executor_new (device, executable, NULL, &error));
  g_assert_cmpstr (error->message, ==, message);
  g_clear_error (&error);
  g_assert_null (gantry_device_allocate (device, GANTRY_MEMORY_DEVICE, 100, &error));
  g_assert_cmpstr (error->message, ==, message);
  g_clear_error (&error);
  g_assert_false (gantry_device_upload (device, x, x, 4, &error));
  g_assert_cmpstr (error->message, ==, message);
  g_assert_false (gantry_cuda_device_measure_memory (device, &(GantryCudaMemory){ 0 }));
  gantry_executor_free (executor);
  gantry_device_unref (device);
  g_assert_cmpuint (stand_in.alive (), ==, 0);
}

/* A kernel that goes wrong is found when something later is waited for, and with checking at once and by its name. */

static void
kernel_faulty (gconstpointer state, void *const *buffers, gint64 begin, gint64 end)
{
  stand_in.lose (700);
}

static GantryExecutable *
faulty_program (void)
{
  Fake f = fake_begin ();
  guint32 x = fake_value (&f, TRUE, N, "x"), bx = fake_buffer (&f, x, GANTRY_BUFFER_OUTPUT, 0, N, 0, 3), b;
  GantryExecutable *executable;

  FAKE_BUFFER (&f, bx)->category = GANTRY_BUFFER_INPUT;
  b = bx;
  fake_launch (&f, x, 0, kernel_scale, (gpointer) &two, N, FAKE_BUFFERS (bx, bx));
  fake_launch (&f, x, 1, kernel_faulty, NULL, N, FAKE_BUFFERS (bx, bx));
  fake_launch (&f, x, 2, kernel_scale, (gpointer) &two, N, FAKE_BUFFERS (bx, bx));
  executable = fake_end (&f, 1, &b);
  stand_in_convert (executable);
  return executable;
}

static void
test_checking (void)
{
  for (guint checking = 0; checking < 2; checking++)
    {
      g_autoptr (GantryExecutable) executable = faulty_program ();
      g_autoptr (GError) error = NULL;
      GantryDevice *device;
      GantryExecutor *executor;
      float x[N] = { 0 };

      stand_in.configure (NULL);
      g_setenv ("GANTRY_CUDA_CHECK", checking ? "1" : "0", TRUE);
      device = gantry_cuda_device_new (0, NULL);
      g_unsetenv ("GANTRY_CUDA_CHECK");
      executor = gantry_executor_new (device, executable, NULL, NULL);
      g_assert_false (run (executor, x, x, &error));
      if (checking)
        EXPECT (error, GANTRY_ERROR_FAILED, "is lost: running kernel 'kernel_1' failed", "CUDA_ERROR_ILLEGAL_ADDRESS", "report it");
      else
        {
          EXPECT (error, GANTRY_ERROR_FAILED, "is lost", "CUDA_ERROR_ILLEGAL_ADDRESS", "GANTRY_CUDA_CHECK=1");
          g_assert_null (strstr (error->message, "running kernel"));
        }
      gantry_executor_free (executor);
      gantry_device_unref (device);
      g_assert_cmpuint (stand_in.alive (), ==, 0);
    }
}

/* Whatever call of the driver it is that fails, and whether that passes or the device is gone: an error with a message, or
 * the right result; nothing hangs and nothing is left. */
static void
fail_everywhere (const char *how, int code, gboolean graphs)
{
  guint done = 0, refused = 0, most = 0;

  for (guint at = 1; at <= MAX (most, 60); at++)
    {
      g_autofree char *text = g_strdup_printf ("%s=*:%u:%d", how, at, code);
      g_autoptr (GantryExecutable) executable = program ();
      g_autoptr (GError) error = NULL;
      GantryDevice *device;
      GantryExecutor *executor = NULL;
      gboolean ran = FALSE;
      float x[N], r[N];

      for (guint i = 0; i < N; i++)
        x[i] = (float) i;
      stand_in.configure (text);
      device = gantry_cuda_device_new (0, &error);
      if (device != NULL)
        {
          gantry_cuda_device_set_graphs (device, graphs);
          executor = gantry_executor_new (device, executable, NULL, &error);
        }
      for (guint round = 0; executor != NULL && round < 3; round++)
        {
          memset (r, 0, sizeof r);
          g_clear_error (&error);
          ran = graphs ? gantry_executor_run (executor, &(GantryRunInput){ x, 4 * N }, 1, &(GantryRunOutput){ r, 4 * N }, 1, NULL, NULL, &error)
                       : run (executor, x, r, &error);
          for (guint i = 0; ran && i < N; i++)
            g_assert_cmpfloat (r[i], ==, 5 * x[i]);
          if (!ran)
            break;
        }
      g_assert_true (ran == (error == NULL));
      g_assert_true (error == NULL || strlen (error->message) > 20);
      *(ran ? &done : &refused) += 1;
      gantry_executor_free (executor);
      if (device != NULL)
        {
          most = MAX (most, stand_in.calls (NULL));
          gantry_device_unref (device);
        }
      g_assert_cmpuint (stand_in.alive (), ==, 0);
    }
  g_test_message ("%s=*:1..%u:%d: %u runs were refused, %u done", how, MAX (most, 60), code, refused, done);
  g_assert_cmpuint (refused, >, 30);
}

static void
test_everywhere (void)
{
  for (guint graphs = 0; graphs < 2; graphs++)
    {
      fail_everywhere ("lose", 719, graphs);
      fail_everywhere ("fail", 719, graphs);
      fail_everywhere ("fail", 2, graphs);
      fail_everywhere ("fail", 1, graphs);
    }
}

/* Of a program that has a context of its own current, none is taken away, whichever of our calls could not make ours current. */
static void
test_contexts (void)
{
  CudaResult (*push) (CudaContext), (*pop) (CudaContext *), (*current) (CudaContext *);
  CudaContext own = GSIZE_TO_POINTER (0x7770), is = NULL;

  *(void **) &push = dlsym (stand_in.library, "cuCtxPushCurrent_v2");
  *(void **) &pop = dlsym (stand_in.library, "cuCtxPopCurrent_v2");
  *(void **) &current = dlsym (stand_in.library, "cuCtxGetCurrent");
  stand_in.configure (NULL);
  g_assert_cmpint (push (own), ==, 0);
  for (guint at = 1, most = 1; at <= most; at++)
    {
      g_autofree char *text = g_strdup_printf ("fail=cuCtxPushCurrent_v2:%u:201", at);
      g_autoptr (GantryExecutable) executable = program ();
      GantryDevice *device;
      float x[N] = { 1 }, r[N];

      stand_in.configure (text);
      device = gantry_cuda_device_new (0, NULL);
      if (device != NULL)
        {
          GantryExecutor *executor = gantry_executor_new (device, executable, NULL, NULL);

          if (executor != NULL)
            run (executor, x, r, NULL);
          gantry_executor_free (executor);
          gantry_device_unref (device);
        }
      most = MAX (most, stand_in.calls ("cuCtxPushCurrent_v2"));
      g_assert_cmpint (current (&is), ==, 0);
      g_assert_true (is == own);
      g_assert_cmpuint (stand_in.alive (), ==, 0);
    }
  stand_in.configure (NULL);
  g_assert_cmpint (pop (&is), ==, 0);
  g_assert_true (is == own);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  stand_in = stand_in_load ();
  g_test_add_func ("/runtime/cuda-failures/no-driver", test_no_driver);
  g_test_add_func ("/runtime/cuda-failures/not-installed", test_not_installed);
  g_test_add_func ("/runtime/cuda-failures/stub", test_stub);
  g_test_add_func ("/runtime/cuda-failures/too-old", test_too_old);
  g_test_add_func ("/runtime/cuda-failures/no-device", test_no_device);
  g_test_add_func ("/runtime/cuda-failures/not-permitted", test_not_permitted);
  g_test_add_func ("/runtime/cuda-failures/unusable", test_unusable);
  g_test_add_func ("/runtime/cuda-failures/no-memory", test_no_memory);
  g_test_add_func ("/runtime/cuda-failures/code", test_code);
  g_test_add_func ("/runtime/cuda-failures/lost", test_lost);
  g_test_add_func ("/runtime/cuda-failures/checking", test_checking);
  g_test_add_func ("/runtime/cuda-failures/contexts", test_contexts);
  g_test_add_func ("/runtime/cuda-failures/everywhere", test_everywhere);
  return g_test_run ();
}
