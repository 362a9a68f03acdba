/* SPDX-License-Identifier: Apache-2.0 */
/* The hierarchical name of each node, from the best that the exporter left: scopes in its metadata
 * (PyTorch's newer exporter), the path in the node's name ("/layer1/conv/Conv"), the path in the
 * name of its first output ("gpu_0/conv1_1"). Where no node has a path in its name, the names of
 * the parameters ("layer1.0.conv1.weight", "fire2/squeeze1x1_w") tell the modules, too, and a node
 * between two of them belongs to the innermost scope that holds both. */
#include "core/frontends/onnx/onnx-import-private.h"
#include <string.h>

#define MAX_PARTS 32u

/* Joins the parts but for the last @drop to a scope id; 0 when nothing is left. */
static guint32
scope_of_parts (GantryOnnxBody *body, char **parts, guint drop)
{
  GString *path = g_string_new (body->scope);
  guint n = 0, kept = 0;
  guint32 id;

  for (guint i = 0; parts[i] != NULL; i++)
    n += *parts[i] != '\0';
  for (guint i = 0; parts[i] != NULL && kept + drop < n && kept < MAX_PARTS; i++)
    if (*parts[i] != '\0')
      {
        g_string_append_printf (path, "%s%s", path->len > 0 ? "/" : "", parts[i]);
        kept++;
      }
  id = kept > 0 ? gantry_context_scope (body->import->context, path->str) : 0;
  g_string_free (path, TRUE);
  return id;
}

/* "/layer1/conv/Conv" without its last part. The names of a subgraph's nodes mostly repeat the path
 * of the node around it; then that is not put before them a second time. */
static guint32
scope_of_path (GantryOnnxBody *body, const char *name)
{
  const char *last = name != NULL ? strrchr (name, '/') : NULL;
  gsize length = strlen (body->scope);
  g_auto (GStrv) parts = NULL;
  guint32 scope;

  if (last == NULL || strstr (name, "::") != NULL)
    return 0;
  while (*name == '/')
    name++;
  if (length > 0 && strncmp (name, body->scope, length) == 0 && (name[length] == '/' || name[length] == '\0'))
    name += length;
  parts = g_strsplit (name, "/", -1);
  scope = scope_of_parts (body, parts, 1);
  return scope != 0 ? scope : gantry_context_scope (body->import->context, body->scope);
}

/* "['', 'layer1', 'layer1.0', 'layer1.0.conv', 'conv2d']": each entry but the last is a module. */
static guint32
scope_of_metadata (GantryOnnxBody *body, const Onnx__NodeProto *node)
{
  const char *text = NULL;
  g_auto (GStrv) entries = NULL;
  g_auto (GStrv) parts = NULL;
  guint n;

  for (gsize i = 0; i < node->n_metadata_props && text == NULL; i++)
    if (node->metadata_props[i]->key != NULL && strcmp (node->metadata_props[i]->key, "pkg.torch.onnx.name_scopes") == 0)
      text = node->metadata_props[i]->value;
  if (text == NULL)
    return 0;
  entries = g_strsplit (text, "'", -1);
  n = g_strv_length (entries);
  /* Between the quotes: every other piece; the last entry is the operation. */
  if (n < 7)
    return 0;
  parts = g_strsplit (entries[n - 4], ".", -1);
  return scope_of_parts (body, parts, 0);
}

static gboolean
ends_in_parameter (const char *name)
{
  static const char *const ends[] = { "weight", "bias", "running_mean", "running_var", "gamma", "beta", "kernel" };
  const char *last = strrchr (name, '.');

  for (guint i = 0; last != NULL && i < G_N_ELEMENTS (ends); i++)
    if (strcmp (last + 1, ends[i]) == 0)
      return TRUE;
  return FALSE;
}

/* A parameter is hardly ever the first input. */
static guint32
scope_of_parameters (GantryOnnxBody *body, const Onnx__NodeProto *node)
{
  guint32 scope = 0;

  for (gsize i = 1; i < node->n_input && scope == 0; i++)
    if (ends_in_parameter (node->input[i]))
      {
        g_auto (GStrv) parts = g_strsplit (node->input[i], ".", -1);

        scope = scope_of_parts (body, parts, 1);
      }
    else
      scope = scope_of_path (body, node->input[i]);
  return scope;
}

static gboolean
has_path (const char *name)
{
  return name != NULL && strchr (name, '/') != NULL;
}

static guint32
scope_of_node (GantryOnnxBody *body, const Onnx__NodeProto *node, gboolean named)
{
  guint32 scope = scope_of_metadata (body, node);

  if (scope == 0)
    scope = scope_of_path (body, node->name);
  if (scope == 0 && !has_path (node->name) && node->n_output > 0)
    scope = scope_of_path (body, node->output[0]);
  return scope == 0 && !named ? scope_of_parameters (body, node) : scope;
}

guint32
gantry_onnx_common_scope (GantryContext *context, guint32 a, guint32 b)
{
  const char *p = gantry_context_scope_path (context, a), *q = gantry_context_scope_path (context, b);
  gsize i = 0, end = 0;
  g_autofree char *common = NULL;

  if (a == b)
    return a;
  for (; p[i] != '\0' && p[i] == q[i]; i++)
    if (p[i] == '/')
      end = i;
  if ((p[i] == '\0' && q[i] == '/') || (q[i] == '\0' && p[i] == '/'))
    end = i;
  common = g_strndup (p, end);
  return gantry_context_scope (context, common);
}

/* The scope of nodes between @before and @after: what holds both, or else the outermost part of
 * where they come from: the activation after a block's last convolution is of the block. */
static guint32
scope_between (GantryOnnxBody *body, guint32 before, guint32 after)
{
  GantryContext *context = body->import->context;
  guint32 common = gantry_onnx_common_scope (context, before, after);
  gsize own = strlen (body->scope);
  const char *path = gantry_context_scope_path (context, before);
  g_autofree char *outermost = NULL;
  const char *end;

  if (strlen (gantry_context_scope_path (context, common)) > own || strlen (path) <= own)
    return common;
  end = strchr (path + own + (own > 0), '/');
  outermost = end != NULL ? g_strndup (path, (gsize) (end - path)) : g_strdup (path);
  return gantry_context_scope (context, outermost);
}

/* Exporters write constants anywhere; they say nothing about their neighbours. */
static gboolean
is_constant (const Onnx__NodeProto *node)
{
  return node->op_type != NULL && g_str_has_prefix (node->op_type, "Constant");
}

static void
fill_gaps (GantryOnnxBody *body, guint32 *scopes)
{
  g_autofree guint32 *after = g_new0 (guint32, body->n_nodes + 1);
  guint32 before = 0;

  for (gsize i = body->n_nodes; i-- > 0;)
    after[i] = scopes[i] != 0 && !is_constant (body->nodes[i]) ? scopes[i] : after[i + 1];
  for (gsize i = 0; i < body->n_nodes; i++)
    {
      if (is_constant (body->nodes[i]))
        continue;
      if (scopes[i] == 0 && before != 0 && after[i] != 0)
        scopes[i] = scope_between (body, before, after[i]);
      else if (scopes[i] != 0)
        before = scopes[i];
    }
}

guint32 *
gantry_onnx_scopes (GantryOnnxBody *body)
{
  guint32 *scopes = g_new0 (guint32, body->n_nodes + 1);
  guint32 base = gantry_context_scope (body->import->context, body->scope);
  gboolean named = FALSE;

  for (gsize i = 0; i < body->n_nodes && !named; i++)
    named = has_path (body->nodes[i]->name) || scope_of_metadata (body, body->nodes[i]) != 0;
  for (gsize i = 0; i < body->n_nodes; i++)
    scopes[i] = scope_of_node (body, body->nodes[i], named);
  if (!named)
    fill_gaps (body, scopes);
  for (gsize i = 0; i < body->n_nodes; i++)
    if (scopes[i] == 0)
      scopes[i] = base;
  return scopes;
}
