/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of source, and words where one has nothing to show. Schedule and machine code are there for kernels of a GPU alone. */
#include "views/code/code-view.h"
#include "core/expr/texpr.h"
#include "views/code-scheme.h"
#include "views/code/disassemble.h"
#include "views/format.h"
#include "views/theme-of.h"
#include <gtksourceview/gtksource.h>

typedef enum
{
  PAGE_EXPRESSION,
  PAGE_SCHEDULE,
  PAGE_LLVM,
  PAGE_ASSEMBLY,
  PAGE_SASS,
  N_PAGES
} Page;

static const struct
{
  const char *name, *title, *language;
} page_info[N_PAGES] = {
  { "expression", "Expression", NULL }, { "schedule", "Schedule", NULL }, { "llvm", "LLVM IR", "llvm" },
  { "assembly", "Assembly", "asm" },    { "sass", "SASS", "asm" },
};

struct _GantryCodeView
{
  GtkBox parent_instance;
  GtkStack *stack;
  GtkLabel *kernel;
  GtkSourceBuffer *buffers[N_PAGES];
  GtkStack *pages[N_PAGES]; /* "text" or "words" */
  GtkLabel *words[N_PAGES];
  GCancellable *disassembling; /* (nullable) */
  GBytes *shown;               /* (nullable): machine code that the last page is of */
};

G_DEFINE_FINAL_TYPE (GantryCodeView, gantry_code_view, GTK_TYPE_BOX)

static void
set_page (GantryCodeView *self, Page page, const char *text, const char *words)
{
  gboolean has_text = text != NULL && *text != '\0';

  gtk_text_buffer_set_text (GTK_TEXT_BUFFER (self->buffers[page]), has_text ? text : "", -1);
  gtk_label_set_text (self->words[page], words);
  gtk_stack_set_visible_child_name (self->pages[page], has_text ? "text" : "words");
}

/* The names of what a node reads, for its expression; a load reads better by name than by number. */
static char **
operand_names (const GantryModule *module, const GantryNode *node)
{
  char **names = g_new0 (char *, node->n_operands + 1);

  for (guint i = 0; i < node->n_operands; i++)
    {
      const GantryNode *operand = gantry_node_operand (module, node, i);
      g_autofree char *label = operand != NULL ? gantry_node_label (module, operand) : g_strdup ("?");

      names[i] = g_strdup_printf ("%s", *label == '%' ? label + 1 : label);
      g_strcanon (names[i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", '_');
      if (g_ascii_isdigit (names[i][0]))
        {
          g_autofree char *number = names[i];

          names[i] = g_strconcat ("v", number, NULL);
        }
    }
  return names;
}

/* @why: (out): words where there is none */
static char *
expression_of (const GantryModule *module, const GantryNode *node, char **why)
{
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) names = operand_names (module, node);
  GString *text;

  if (node->op >= GANTRY_OP_FOREIGN)
    {
      *why = g_strdup ("An operation of the model's own format gets its meaning in the pass that legalizes it.");
      return NULL;
    }
  if (node->op == GANTRY_OP_FUSION)
    {
      g_autoptr (GPtrArray) parts = gantry_texpr_of_fusion (module, node, &error);

      text = g_string_new (NULL);
      for (guint i = 0; parts != NULL && i < parts->len; i++)
        {
          g_autofree char *part = gantry_texpr_to_text (g_ptr_array_index (parts, i), (const char *const *) names);

          g_string_append_printf (text, "%s%s\n", i > 0 ? "\n" : "", part);
        }
      if (parts != NULL)
        return g_string_free (text, FALSE);
      g_string_free (text, TRUE);
    }
  else
    {
      g_autoptr (GantryTexpr) expression = gantry_texpr_of_node (module, node, &error);

      if (expression != NULL)
        return gantry_texpr_to_text (expression, (const char *const *) names);
    }
  *why = g_strdup_printf ("No tensor expression: %s", error != NULL ? error->message : "");
  return NULL;
}

/* Machine code */

static void
disassembled (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GantryCodeView) self = data;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = gantry_disassemble_finish (result, &error);

  if (!g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    set_page (self, PAGE_SASS, text, error != NULL ? error->message : "");
}

static void
show_machine_code (GantryCodeView *self, GBytes *cubin)
{
  g_autofree char *program = NULL;

  if (cubin != NULL && cubin == self->shown)
    return;
  if (self->disassembling != NULL)
    g_cancellable_cancel (self->disassembling);
  g_clear_object (&self->disassembling);
  g_clear_pointer (&self->shown, g_bytes_unref);
  if (cubin == NULL)
    {
      set_page (self, PAGE_SASS, NULL,
                "There is no machine code: this was made as PTX, which the driver assembles when it loads it. "
                "Where ptxas is installed, code is assembled beforehand.");
      return;
    }
  program = gantry_disassembler_find ();
  if (program == NULL)
    {
      set_page (self, PAGE_SASS, NULL,
                "The machine code is here, but no disassembler. nvdisasm or cuobjdump of the CUDA toolkit make "
                "it readable: put one of them into $PATH, or set $CUDA_HOME to the toolkit, and select the "
                "node again.");
      return;
    }
  set_page (self, PAGE_SASS, NULL, "Disassembling");
  self->shown = g_bytes_ref (cubin);
  self->disassembling = g_cancellable_new ();
  gantry_disassemble_async (program, cubin, self->disassembling, disassembled, g_object_ref (self));
}

/* "generated kernel fusion_3 for sm_90a: 40 registers, no spills" (transfer full) */
static char *
describe (const GantryCode *code)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "%s kernel %s", code->kind, code->kernel);
  if (code->arch != NULL && *code->arch != '\0')
    g_string_append_printf (text, " for %s", code->arch);
  if (!code->is_measured)
    return g_string_free (text, FALSE);
  g_string_append_printf (text, ": %u registers, ", code->registers);
  if (code->spill_store_bytes + code->spill_load_bytes == 0)
    g_string_append (text, "no spills");
  else
    g_string_append_printf (text, "%u B spilled, %u B read back", code->spill_store_bytes, code->spill_load_bytes);
  if (code->shared_bytes > 0)
    {
      g_autofree char *shared = gantry_format_bytes (code->shared_bytes);

      g_string_append_printf (text, ", %s shared", shared);
    }
  return g_string_free (text, FALSE);
}

/* Only what there is gets a tab: on the processor three. */
static void
show_tabs (GantryCodeView *self, const GantryCode *code)
{
  gboolean gpu = code != NULL && code->arch != NULL && *code->arch != '\0';
  gboolean has_schedule = gpu || (code != NULL && code->schedule != NULL && *code->schedule != '\0');
  const char *shown = gtk_stack_get_visible_child_name (self->stack);
  GtkStackPage *pages[N_PAGES];

  for (guint i = 0; i < N_PAGES; i++)
    pages[i] = gtk_stack_get_page (self->stack, GTK_WIDGET (self->pages[i]));
  /* A page that goes would leave its words behind, and no tab to leave it by. */
  if (!gpu && g_strcmp0 (shown, "sass") == 0)
    gtk_stack_set_visible_child_name (self->stack, "assembly");
  else if (!has_schedule && g_strcmp0 (shown, "schedule") == 0)
    gtk_stack_set_visible_child_name (self->stack, "expression");
  gtk_stack_page_set_visible (pages[PAGE_SCHEDULE], has_schedule);
  gtk_stack_page_set_visible (pages[PAGE_SASS], gpu);
  gtk_stack_page_set_title (pages[PAGE_EXPRESSION], gpu ? "Texpr" : page_info[PAGE_EXPRESSION].title);
  gtk_stack_page_set_title (pages[PAGE_LLVM], gpu ? "LLVM" : page_info[PAGE_LLVM].title);
  gtk_stack_page_set_title (pages[PAGE_ASSEMBLY], gpu ? "PTX" : page_info[PAGE_ASSEMBLY].title);
}

static void
show_nothing (GantryCodeView *self, const char *words)
{
  gtk_label_set_text (self->kernel, "");
  gtk_widget_set_visible (GTK_WIDGET (self->kernel), FALSE);
  show_machine_code (self, NULL);
  for (guint i = 0; i < N_PAGES; i++)
    set_page (self, i, NULL, words);
  show_tabs (self, NULL);
}

void
gantry_code_view_set (GantryCodeView *self, GantryModule *module, guint32 id, GantryRunResult *run)
{
  const GantryNode *node = module != NULL ? gantry_module_node (module, id) : NULL;
  const GantryCode *code = run != NULL && id != 0 ? gantry_run_result_code (run, id) : NULL;
  const char *words = run == NULL ? "Code appears here after Run."
                                  : "The run shown made no code for this node: it does no work of its own, a library does it, "
                                    "or the program has changed since.";
  g_autofree char *expression = NULL, *why = NULL, *kernel = NULL;

  if (node == NULL)
    {
      show_nothing (self, id == 0 ? "Select one node that reaches the last pass to see its code." : "This node is gone after the last pass.");
      return;
    }
  expression = expression_of (module, node, &why);
  set_page (self, PAGE_EXPRESSION, expression != NULL ? expression : code != NULL ? code->texpr : NULL, why != NULL ? why : "");
  if (code != NULL && code->llvm_ir == NULL && code->assembly == NULL)
    words = g_strcmp0 (code->kind, "library") == 0 ? "A library does this work; it has no code of ours." : "A kernel written by hand does this work.";
  set_page (self, PAGE_LLVM, code != NULL ? code->llvm_ir : NULL, words);
  set_page (self, PAGE_ASSEMBLY, code != NULL ? code->assembly : NULL, words);
  set_page (self, PAGE_SCHEDULE, code != NULL ? code->schedule : NULL, words);
  show_machine_code (self, code != NULL ? code->cubin : NULL);
  show_tabs (self, code);
  kernel = code != NULL ? describe (code) : NULL;
  gtk_label_set_text (self->kernel, kernel != NULL ? kernel : "");
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->kernel), kernel);
  gtk_widget_set_visible (GTK_WIDGET (self->kernel), kernel != NULL);
}

char *
gantry_code_view_get_text (GantryCodeView *self, const char *page)
{
  for (guint i = 0; i < N_PAGES; i++)
    if (g_strcmp0 (page_info[i].name, page) == 0)
      {
        GtkTextIter start, end;

        if (g_strcmp0 (gtk_stack_get_visible_child_name (self->pages[i]), "words") == 0)
          return g_strdup (gtk_label_get_text (self->words[i]));
        gtk_text_buffer_get_bounds (GTK_TEXT_BUFFER (self->buffers[i]), &start, &end);
        return gtk_text_buffer_get_text (GTK_TEXT_BUFFER (self->buffers[i]), &start, &end, FALSE);
      }
  return NULL;
}

void
gantry_code_view_show_page (GantryCodeView *self, const char *page)
{
  gtk_stack_set_visible_child_name (self->stack, page);
}

static void
apply_theme (gpointer object)
{
  GantryCodeView *self = object;

  for (guint i = 0; i < N_PAGES; i++)
    gantry_code_scheme_apply (self->buffers[i], gantry_theme_of (GTK_WIDGET (self)));
}

static GtkWidget *
make_page (GantryCodeView *self, Page page)
{
  GtkWidget *view = gtk_source_view_new (), *scroller = gtk_scrolled_window_new (), *words = gtk_label_new ("");
  GtkSourceLanguage *language = NULL;

  if (page_info[page].language != NULL)
    language = gtk_source_language_manager_get_language (gtk_source_language_manager_get_default (), page_info[page].language);
  self->buffers[page] = GTK_SOURCE_BUFFER (gtk_text_view_get_buffer (GTK_TEXT_VIEW (view)));
  gtk_source_buffer_set_language (self->buffers[page], language);
  gtk_source_buffer_set_highlight_matching_brackets (self->buffers[page], FALSE);
  gtk_text_view_set_editable (GTK_TEXT_VIEW (view), FALSE);
  gtk_text_view_set_cursor_visible (GTK_TEXT_VIEW (view), FALSE);
  gtk_text_view_set_monospace (GTK_TEXT_VIEW (view), TRUE);
  gtk_text_view_set_left_margin (GTK_TEXT_VIEW (view), 8);
  gtk_text_view_set_top_margin (GTK_TEXT_VIEW (view), 6);
  if (page == PAGE_EXPRESSION)
    gtk_text_view_set_wrap_mode (GTK_TEXT_VIEW (view), GTK_WRAP_WORD_CHAR);
  gtk_accessible_update_property (GTK_ACCESSIBLE (view), GTK_ACCESSIBLE_PROPERTY_LABEL, page_info[page].title, -1);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), view);
  self->words[page] = GTK_LABEL (words);
  gtk_label_set_wrap (GTK_LABEL (words), TRUE);
  gtk_label_set_max_width_chars (GTK_LABEL (words), 30);
  gtk_label_set_justify (GTK_LABEL (words), GTK_JUSTIFY_CENTER);
  gtk_widget_add_css_class (words, "dim-label");
  gtk_widget_set_margin_start (words, 18);
  gtk_widget_set_margin_end (words, 18);
  self->pages[page] = GTK_STACK (gtk_stack_new ());
  gtk_stack_add_named (self->pages[page], scroller, "text");
  gtk_stack_add_named (self->pages[page], words, "words");
  return GTK_WIDGET (self->pages[page]);
}

static void
gantry_code_view_dispose (GObject *object)
{
  GantryCodeView *self = GANTRY_CODE_VIEW (object);

  if (self->disassembling != NULL)
    g_cancellable_cancel (self->disassembling);
  g_clear_object (&self->disassembling);
  g_clear_pointer (&self->shown, g_bytes_unref);
  G_OBJECT_CLASS (gantry_code_view_parent_class)->dispose (object);
}

static void
gantry_code_view_class_init (GantryCodeViewClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = gantry_code_view_dispose;
}

static void
gantry_code_view_init (GantryCodeView *self)
{
  GtkWidget *switcher = gtk_stack_switcher_new ();

  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  self->stack = GTK_STACK (gtk_stack_new ());
  gtk_widget_set_vexpand (GTK_WIDGET (self->stack), TRUE);
  for (guint i = 0; i < N_PAGES; i++)
    gtk_stack_add_titled (self->stack, make_page (self, i), page_info[i].name, page_info[i].title);
  gtk_stack_switcher_set_stack (GTK_STACK_SWITCHER (switcher), self->stack);
  gtk_widget_add_css_class (switcher, "code-pages");
  gtk_widget_set_margin_start (switcher, 8);
  gtk_widget_set_margin_end (switcher, 8);
  gtk_widget_set_margin_top (switcher, 8);
  gtk_widget_set_margin_bottom (switcher, 6);
  self->kernel = GTK_LABEL (gtk_label_new (""));
  gtk_label_set_ellipsize (self->kernel, PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_selectable (self->kernel, TRUE);
  gtk_label_set_xalign (self->kernel, 0);
  gtk_widget_add_css_class (GTK_WIDGET (self->kernel), "dim-label");
  gtk_widget_set_margin_start (GTK_WIDGET (self->kernel), 12);
  gtk_widget_set_margin_end (GTK_WIDGET (self->kernel), 12);
  gtk_widget_set_margin_bottom (GTK_WIDGET (self->kernel), 4);
  gtk_box_append (GTK_BOX (self), switcher);
  gtk_box_append (GTK_BOX (self), GTK_WIDGET (self->kernel));
  gtk_box_append (GTK_BOX (self), GTK_WIDGET (self->stack));
  gantry_theme_watch (self, apply_theme);
  apply_theme (self);
  show_nothing (self, "Select one node that reaches the last pass to see its code.");
}

GtkWidget *
gantry_code_view_new (void)
{
  return g_object_new (GANTRY_TYPE_CODE_VIEW, NULL);
}
