/* SPDX-License-Identifier: Apache-2.0 */
/* Programs as models: whatever one does costs its own import. Each is written by the test and run in the child. */
#include "core/base/error.h"
#include "core/compiler/model.h"
#include "core/compiler/python-model.h"
#include "core/graph/operation.h"
#include "core/graph/text.h"
#include "core/plan/placement.h"
#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "from mindspore import Tensor, jit, nn\nimport mindspore as ms\nimport os, sys, time\n@jit\ndef f(x):\n    return x + 1\n\n"

typedef struct
{
  const char *name;
  const char *body;    /* behind HEAD */
  const char *message; /* (nullable): of the error; NULL: a graph comes back */
} Case;

static const Case cases[] = {
  { "plain", "f(Tensor([1.0]))\n", NULL },
  { "no-graph", "pass\n", "makes no graph" },
  { "two-graphs", "f(Tensor([1.0]))\nf(Tensor([1.0, 2.0]))\n", "makes 2 graphs, name one as the entry" },
  /* The gradients of a step are variables of the optimizer's graph, though they come as a tuple. */
  { "optimizer-steps",
    "ms.set_context(mode=ms.GRAPH_MODE)\nnet = nn.Dense(2, 3)\noptimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)\n"
    "step = ms.value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)\n"
    "for i in range(3):\n    loss, grads = step(Tensor([[1.0, float(i)]]))\n    optimizer(grads)\n",
    "makes 2 graphs, name one as the entry" },
  /* A number that changes from call to call becomes an input: that graph takes the place of the first. */
  { "counts", "k = 0\n@jit\ndef g():\n    global k\n    k = k + 1\n    return k\nfor i in range(3):\n    g()\n", NULL },
  { "raises", "f(Tensor([1.0]))\nraise ValueError('no')\n", "ValueError: no" },
  { "exits", "f(Tensor([1.0]))\nsys.exit(3)\n", "ended with status 3" },
  { "exits-well", "f(Tensor([1.0]))\nsys.exit(0)\n", NULL },
  { "exits-at-once", "f(Tensor([1.0]))\nos._exit(4)\n", "ended with status 4" },
  { "crashes", "f(Tensor([1.0]))\nimport ctypes\nctypes.string_at(8)\n", "ended by signal 11" },
  { "aborts", "os.abort()\n", "ended by signal 6" },
  { "loops", "f(Tensor([1.0]))\nwhile True:\n    pass\n", "stopped after 5 seconds" },
  { "sleeps-without-output", "sys.stdout.close()\nos.close(1)\nos.close(2)\ntime.sleep(1000)\n", "stopped after 5 seconds" },
  { "prints", "while True:\n    print('x' * 100000)\n", "printed more than 64 MiB" },
  { "needs-memory", "x = bytearray(1 << 50)\n", "MemoryError" },
  { "forks", "f(Tensor([1.0]))\nif os.fork() == 0:\n    time.sleep(1000)\n", NULL },
  { "forks-and-ends", "f(Tensor([1.0]))\nif os.fork() == 0:\n    sys.exit(0)\nos.wait()\n", NULL },
  { "deletes-itself", "f(Tensor([1.0]))\nos.unlink(__file__)\n", NULL },
  { "deletes-itself-first", "os.unlink(__file__)\nf(Tensor([1.0]))\n", "could not get source code" },
  { "syntax", "def\n", "SyntaxError" },
};

static void
test_case (gconstpointer data)
{
  const Case *one = data;
  g_autofree char *folder = g_dir_make_tmp ("gantry-import-XXXXXX", NULL), *path = g_build_filename (folder, "model.py", NULL);
  g_autofree char *text = g_strconcat (HEAD, one->body, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModel) model = NULL;

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  model = gantry_model_open (path, NULL, -1, NULL, &error);
  if (one->message == NULL)
    {
      g_assert_no_error (error);
      g_assert_cmpstr (model->format, ==, GANTRY_PYTHON_FORMAT);
      g_assert_cmpuint (model->n_inputs, ==, 1);
      g_assert_cmpuint (model->n_unsupported, ==, 0);
    }
  else
    {
      g_assert_nonnull (error);
      if (strstr (error->message, one->message) == NULL)
        g_assert_cmpstr (error->message, ==, one->message);
      g_assert_null (model);
    }
  g_unlink (path);
  g_rmdir (folder);
}

/* Several errors at once, each with its place; what cannot be a graph does not end the program. */
static void
test_errors (void)
{
  static const char program[] = "from mindspore import Tensor, jit\n"
                                "@jit\n"
                                "def first(x):\n"
                                "    try:\n"
                                "        return x\n"
                                "    except ValueError:\n"
                                "        return x\n"
                                "@jit\n"
                                "def second(x):\n"
                                "    y = x + 1\n"
                                "    return {1, 2}\n"
                                "first(1)\n"
                                "second(2)\n";
  static const struct
  {
    guint line, column;
    const char *message;
  } expected[] = {
    { 4, 5, "Unsupported statement 'Try'." },
    { 11, 5, "Unsupported expression 'Set'." },
  };
  g_autofree char *folder = g_dir_make_tmp ("gantry-import-XXXXXX", NULL), *path = g_build_filename (folder, "model.py", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryProgramGraphs) graphs = NULL;

  g_assert_true (g_file_set_contents (path, program, -1, NULL));
  graphs = gantry_program_graphs_run (path, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_null (graphs->failure);
  g_assert_cmpuint (graphs->errors->len, ==, G_N_ELEMENTS (expected));
  for (guint i = 0; i < graphs->errors->len; i++)
    {
      const GantryProgramError *one = g_ptr_array_index (graphs->errors, i);

      g_assert_cmpstr (one->file, ==, path);
      g_assert_cmpuint (one->line, ==, expected[i].line);
      g_assert_cmpuint (one->column, ==, expected[i].column);
      g_assert_cmpstr (one->type, ==, "RuntimeError");
      g_assert_cmpstr (one->message, ==, expected[i].message);
    }
  g_unlink (path);
  g_rmdir (folder);
}

/* Where what failed was called from, innermost first; as compilers say it. */
static void
test_calls (void)
{
  static const char program[] = "import mindspore as ms\n"
                                "from mindspore import Tensor, nn, ops\n"
                                "ms.set_context(mode=ms.GRAPH_MODE)\n"
                                "def product(x):\n"
                                "    return ops.matmul(x, x)\n"
                                "class Inner(nn.Cell):\n"
                                "    def construct(self, x):\n"
                                "        for i in range(2):\n"
                                "            x = x + product(x)\n"
                                "        return x\n"
                                "class Net(nn.Cell):\n"
                                "    def __init__(self):\n"
                                "        super().__init__()\n"
                                "        self.inner = Inner()\n"
                                "    def construct(self, x):\n"
                                "        return self.inner(x) + 1\n"
                                "try:\n"
                                "    Net()(Tensor([[1., 2., 3.]]))\n"
                                "except ValueError:\n"
                                "    pass\n";
  g_autofree char *folder = g_dir_make_tmp ("gantry-python-XXXXXX", NULL), *path = g_build_filename (folder, "calls.py", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryProgramGraphs) graphs = NULL;
  const GantryProgramError *one;
  g_autofree char *calls = NULL, *printed = NULL, *expected = NULL;
  g_autofree char *cli = g_build_filename (g_getenv ("GANTRY_BUILD_ROOT"), "app", "gantry-cli", NULL);
  g_autoptr (GSubprocess) check = NULL;

  g_assert_true (g_file_set_contents (path, program, -1, &error));
  graphs = gantry_program_graphs_run (path, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (graphs->errors->len, ==, 1);
  one = g_ptr_array_index (graphs->errors, 0);
  g_assert_cmpuint (one->line, ==, 5);
  calls = g_strdup_printf ("%s:9:21: called from here, in Inner.construct\n%s:8:9: trip 1 of this loop, in Inner.construct\n"
                           "%s:16:16: called from here, in Net.construct",
                           path, path, path);
  g_assert_cmpstr (one->calls, ==, calls);
  check = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_SILENCE, &error, cli, "check", path, NULL);
  g_assert_no_error (error);
  g_assert_true (g_subprocess_communicate_utf8 (check, NULL, NULL, &printed, NULL, &error));
  expected = g_strdup_printf ("%s:5:12: error: ValueError: %s\n%s:9:21: note: called from here, in Inner.construct\n"
                              "%s:8:9: note: trip 1 of this loop, in Inner.construct\n"
                              "%s:16:16: note: called from here, in Net.construct\n",
                              path, one->message, path, path, path);
  g_assert_cmpstr (printed, ==, expected);
  g_unlink (path);
  g_rmdir (folder);
}

/* What led to each node: calls, trips of loops that were unrolled, the gradient that it is for; kept by passes and in the text. */
static void
test_chains (void)
{
  static const char program[] = "from mindspore import Tensor, grad, jit, ops\n"
                                "def inner(x):\n"
                                "    return ops.sin(x)\n"
                                "def outer(x):\n"
                                "    for i in range(2):\n"
                                "        x = inner(x)\n"
                                "    return x\n"
                                "@jit\n"
                                "def step(x):\n"
                                "    y = [ops.exp(x * k) for k in [2, 3]]\n"
                                "    return grad(outer)(x) + y[0] + y[1]\n"
                                "step(Tensor([1., 2.]))\n";
  static const struct
  {
    const char *op, *chain;
  } expected[] = {
    { "exponential", "model.py:10:9: trip 1 of this loop, in step" },
    { "exponential", "model.py:10:9: trip 2 of this loop, in step" },
    { "sine", "model.py:6:13: called from here, in outer\nmodel.py:5:5: trip 1 of this loop, in outer\n"
              "model.py:11:12: its gradient is taken here, in step" },
    { "cosine", "model.py:6:13: called from here, in outer\nmodel.py:5:5: trip 2 of this loop, in outer\n"
                "model.py:11:12: its gradient is taken here, in step" },
  };
  g_autofree char *folder = g_dir_make_tmp ("gantry-import-XXXXXX", NULL), *path = g_build_filename (folder, "model.py", NULL);
  g_autofree char *prefix = g_strconcat (folder, "/", NULL), *text = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModel) model = NULL;
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) again = NULL;

  g_assert_true (g_file_set_contents (path, program, -1, NULL));
  model = gantry_model_open (path, NULL, -1, NULL, &error);
  g_assert_no_error (error);
  text = gantry_module_to_text (model->module, NULL);
  again = gantry_module_from_text (context, text, -1, "again.gir", &error);
  g_assert_no_error (error);
  for (guint k = 0; k < G_N_ELEMENTS (expected); k++)
    {
      gboolean found = FALSE;

      for (guint i = 0; i < again->n_nodes && !found; i++)
        {
          g_autofree char *chain = gantry_context_location_chain (context, again->nodes[i].location, 10);
          g_auto (GStrv) parts = chain != NULL ? g_strsplit (chain, prefix, -1) : NULL;
          g_autofree char *shown = parts != NULL ? g_strjoinv ("", parts) : NULL;

          found = strcmp (gantry_node_op_name (again, &again->nodes[i]), expected[k].op) == 0 && g_strcmp0 (shown, expected[k].chain) == 0;
        }
      if (!found)
        g_error ("no %s with %s in\n%s", expected[k].op, expected[k].chain, text);
    }
  g_unlink (path);
  g_rmdir (folder);
}

/* Parameters are inputs under their names, every operation has its line, and a call of Python is named by its. */
static void
test_graph (void)
{
  static const char program[] = "import numpy as np\n"
                                "from mindspore import Tensor, jit, nn, ops\n"
                                "class Net(nn.Cell):\n"
                                "    def __init__(self):\n"
                                "        super().__init__()\n"
                                "        self.dense = nn.Dense(2, 3)\n"
                                "    @jit\n"
                                "    def construct(self, x):\n"
                                "        y = self.dense(x)\n"
                                "        return Tensor(np.sin(ops.relu(y).asnumpy()))\n"
                                "Net()(Tensor([[1.0, 2.0]]))\n";
  g_autofree char *folder = g_dir_make_tmp ("gantry-import-XXXXXX", NULL), *path = g_build_filename (folder, "model.py", NULL);
  g_autofree char *line = g_strdup_printf ("%s:10", path);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModel) model = NULL;

  g_assert_true (g_file_set_contents (path, program, -1, NULL));
  model = gantry_model_open (path, NULL, -1, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (model->n_inputs, ==, 3);
  g_assert_cmpstr (model->inputs[0].name, ==, "x");
  g_assert_cmpstr (model->inputs[1].name, ==, "dense.weight");
  g_assert_cmpuint (model->n_unsupported, ==, 3);
  for (guint i = 0; i < model->n_unsupported; i++)
    g_assert_cmpstr (model->unsupported[i].where, ==, line);
  for (guint i = 0; i < model->module->n_nodes; i++)
    {
      const GantryNode *node = &model->module->nodes[i];
      const GantryLocation *place = gantry_context_get_location (model->module->context, node->location);

      if (node->op == GANTRY_OP_PARAMETER || node->op == GANTRY_OP_CONSTANT)
        continue;
      g_assert_cmpstr (gantry_context_string (model->module->context, place->file), ==, path);
      g_assert_cmpuint (place->line, >=, 9);
      g_assert_cmpuint (place->column, >, 0);
    }
  g_unlink (path);
  g_rmdir (folder);
}

/* A training step is one for whoever opens it: what it saves for its gradient, weights and the optimizer's state are told apart, each
 * Parameter that is assigned is written over, and arguments of *args are called by its name. */
static void
test_step (void)
{
  static const char program[] = "import mindspore as ms\n"
                                "from mindspore import Tensor, nn\n"
                                "ms.set_context(mode=ms.GRAPH_MODE)\n"
                                "net = nn.SequentialCell(nn.Dense(4, 8), nn.Tanh(), nn.Dense(8, 1))\n"
                                "step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9))\n"
                                "x = Tensor([[1.0, 2.0, 3.0, 4.0]])\n"
                                "step(x, Tensor([[1.0]]))\n";
  static const char *const names[] = { "inputs.0", "inputs.1", "0.weight", "0.bias", "moments.2.weight" };
  static const GantryPlacementSubject roles[] = { GANTRY_SUBJECT_INPUT, GANTRY_SUBJECT_INPUT, GANTRY_SUBJECT_PARAMETER, GANTRY_SUBJECT_PARAMETER,
                                                  GANTRY_SUBJECT_STATE };
  g_autofree char *folder = g_dir_make_tmp ("gantry-import-XXXXXX", NULL), *path = g_build_filename (folder, "model.py", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModel) model = NULL;
  g_autofree guint8 *subjects = NULL;
  guint n_residuals = 0, n_found = 0;

  g_assert_true (g_file_set_contents (path, program, -1, NULL));
  model = gantry_model_open (path, NULL, -1, NULL, &error);
  g_assert_no_error (error);
  subjects = gantry_placement_subjects (model->module);
  for (guint i = 0; i < model->module->n_nodes; i++)
    {
      const GantryNode *node = &model->module->nodes[i];

      n_residuals += subjects[i] == GANTRY_SUBJECT_RESIDUAL;
      for (guint k = 0; node->op == GANTRY_OP_PARAMETER && k < G_N_ELEMENTS (names); k++)
        if (strcmp (gantry_context_string (model->module->context, node->name), names[k]) == 0)
          {
            g_assert_cmpint (gantry_parameter_role (model->module, node), ==, roles[k]);
            g_assert_cmpint (gantry_parameter_alias (model->module, node) >= 0, ==, roles[k] != GANTRY_SUBJECT_INPUT);
            n_found++;
          }
    }
  g_assert_cmpuint (n_found, ==, G_N_ELEMENTS (names));
  g_assert_cmpuint (n_residuals, >=, 2);
  g_unlink (path);
  g_rmdir (folder);
}

/* Nodes are of the Cell that computes them, those of its gradient too; numbers belong to their list, and a Cell that none holds is called
 * by its class. */
static void
test_scopes (void)
{
  static const char program[] = "import mindspore as ms\n"
                                "from mindspore import Tensor, nn, ops\n"
                                "class Block(nn.Cell):\n"
                                "    def __init__(self):\n"
                                "        super().__init__()\n"
                                "        self.fc = nn.Dense(4, 4)\n"
                                "    def construct(self, x):\n"
                                "        return ops.tanh(self.fc(x)) + x\n"
                                "class Net(nn.Cell):\n"
                                "    def __init__(self):\n"
                                "        super().__init__()\n"
                                "        self.layers = nn.SequentialCell(Block(), Block())\n"
                                "    def construct(self, x):\n"
                                "        return self.layers(x)\n"
                                "net = Net()\n"
                                "@ms.jit\n"
                                "def gradients(x):\n"
                                "    return ms.grad(lambda x: net(x).sum(), None, net.trainable_params())(x)\n"
                                "gradients(Tensor([[1.0, 2.0, 3.0, 4.0]]))\n";
  static const char *const scopes[] = { "Net/layers.0", "Net/layers.0/fc", "Net/layers.1", "Net/layers.1/fc" };
  g_autofree char *folder = g_dir_make_tmp ("gantry-import-XXXXXX", NULL), *path = g_build_filename (folder, "model.py", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModel) model = NULL;
  guint found[2][G_N_ELEMENTS (scopes)] = { { 0 } };

  g_assert_true (g_file_set_contents (path, program, -1, NULL));
  model = gantry_model_open (path, NULL, -1, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < model->module->n_nodes; i++)
    {
      const GantryNode *node = &model->module->nodes[i];

      for (guint k = 0; k < G_N_ELEMENTS (scopes); k++)
        if (strcmp (gantry_context_scope_path (model->module->context, node->scope), scopes[k]) == 0)
          found[node->phase == GANTRY_PHASE_BACKWARD][k]++;
    }
  for (guint k = 0; k < G_N_ELEMENTS (scopes); k++)
    {
      g_assert_cmpuint (found[0][k], >, 0);
      g_assert_cmpuint (found[1][k], >, 0);
    }
  g_unlink (path);
  g_rmdir (folder);
}

/* What the program started ends with it, also what has left its session and its parents, and however the program ends. */
static void
test_orphans (gconstpointer rest)
{
  static const char orphan[] = "import signal\n"
                               "f(Tensor([1.0]))\n"
                               "if os.fork() == 0:\n"
                               "    os.setsid()\n"
                               "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                               "    if os.fork() == 0:\n"
                               "        with open(__file__ + '.tmp', 'w') as f: f.write(str(os.getpid()))\n"
                               "        os.rename(__file__ + '.tmp', __file__ + '.pid')\n"
                               "        time.sleep(1000)\n"
                               "    os._exit(0)\n"
                               "while not os.path.exists(__file__ + '.pid'): time.sleep(0.01)\n";
  g_autofree char *folder = g_dir_make_tmp ("gantry-import-XXXXXX", NULL), *path = g_build_filename (folder, "model.py", NULL);
  g_autofree char *text = g_strconcat (HEAD, orphan, rest, NULL), *pid_path = g_strconcat (path, ".pid", NULL), *pid = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  gantry_program_graphs_free (gantry_program_graphs_run (path, NULL, NULL, &error));
  g_assert_true (g_file_get_contents (pid_path, &pid, NULL, NULL));
  g_assert_true (kill (atoi (pid), 0) != 0 && errno == ESRCH);
  g_unlink (pid_path);
  g_unlink (path);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  g_autofree char *cli = g_build_filename (g_getenv ("GANTRY_BUILD_ROOT"), "app", "gantry-cli", NULL);

  g_test_init (&argc, &argv, NULL);
  g_setenv ("GANTRY_CLI", cli, TRUE);
  g_setenv ("GANTRY_PYTHON_SECONDS", "5", TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *name = g_strconcat ("/python/import/", cases[i].name, NULL);

      g_test_add_data_func (name, &cases[i], test_case);
    }
  g_test_add_func ("/python/import/errors", test_errors);
  g_test_add_func ("/python/import/calls", test_calls);
  g_test_add_func ("/python/import/chains", test_chains);
  g_test_add_func ("/python/import/graph", test_graph);
  g_test_add_func ("/python/import/step", test_step);
  g_test_add_func ("/python/import/scopes", test_scopes);
  g_test_add_data_func ("/python/import/orphans/ends", "", test_orphans);
  g_test_add_data_func ("/python/import/orphans/crashes", "os.abort()\n", test_orphans);
  g_test_add_data_func ("/python/import/orphans/stopped", "time.sleep(1000)\n", test_orphans);
  g_test_add_data_func ("/python/import/orphans/ends-its-group", "os.kill(0, 9)\n", test_orphans);
  return g_test_run ();
}
