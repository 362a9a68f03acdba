/* SPDX-License-Identifier: Apache-2.0 */
/* Where the selected values live: the three choices, who decided, and what each other choice would save and cost. */
#include "views/format.h"
#include "views/inspector/inspector-private.h"
#include "views/shown-plan.h"

#define MOST_ASKED 2000 /* values selected together for which savings are worked out */

/* What a section is about: the selected values that can be placed. */
typedef struct
{
  GantryPlanner *planner;
  GantryPlacements *placements;
  const GantryCandidate *candidates;
  GArray *values; /* guint32 nodes of the last snapshot */
  guint n_of[GANTRY_N_PLACEMENTS];
  guint allowed;     /* bits that every one of them allows */
  guint allowed_any; /* bits that any allows */
  const char *why_not;
  const char *why_not_of[GANTRY_N_PLACEMENTS]; /* of the first that does not allow it */
} Placing;

/* Every kind. */
#define ALL_KINDS ((1u << GANTRY_N_PLACEMENTS) - 1)

static const char *const words[GANTRY_N_PLACEMENTS] = { "Keep", "Recompute", "Offload", "bf16", "8 bits" };
static const char *const keys[GANTRY_N_PLACEMENTS] = { "K", "R", "O", "B", "8" };
static const char *const verbs[GANTRY_N_PLACEMENTS] = { "Keep", "Recompute", "Offload", "Approximate: store as bf16", "Approximate: store in 8 bits" };

static gboolean
look_at (Placing *p, const GantryInspected *what, GArray *values)
{
  guint n;

  p->planner = gantry_document_get_planner (what->document);
  p->placements = gantry_document_get_placements (what->document);
  if (p->planner == NULL || p->placements == NULL || values->len == 0)
    return FALSE;
  p->values = values;
  p->candidates = gantry_planner_candidates (p->planner, &n);
  p->allowed = ALL_KINDS;
  for (guint i = 0; i < values->len; i++)
    {
      gint index = gantry_planner_candidate_of (p->planner, g_array_index (values, guint32, i));

      if (index < 0)
        continue;
      p->n_of[gantry_placements_kind (p->placements, p->candidates[index].node)]++;
      p->allowed &= p->candidates[index].allowed;
      p->allowed_any |= p->candidates[index].allowed;
      if (p->why_not == NULL)
        p->why_not = p->candidates[index].why_not;
      for (guint kind = 0; kind < GANTRY_N_PLACEMENTS; kind++)
        if (p->why_not_of[kind] == NULL)
          p->why_not_of[kind] = gantry_candidate_why_not (&p->candidates[index], kind);
    }
  return p->allowed_any != 0;
}

/* What a button of a choice does, and to what: it outlives the section, which its own click has written anew. */
typedef struct
{
  GantryDocument *document;
  guint snapshot;
  GArray *values;
  guint kind;
  gboolean chosen;
} Choice;

static void
choice_free (gpointer data, GClosure *closure)
{
  Choice *choice = data;

  g_object_unref (choice->document);
  g_array_unref (choice->values);
  g_free (choice);
}

static void
choose (GtkToggleButton *button, gpointer data)
{
  const Choice *choice = data;
  GtkWidget *window = GTK_WIDGET (gtk_widget_get_root (GTK_WIDGET (button)));
  g_autofree char *why = NULL, *text = NULL;
  guint n;

  /* The state is what the table says; where the click changes that, the section is written anew. */
  gtk_toggle_button_set_active (button, choice->chosen);
  n = gantry_document_set_placement (choice->document, choice->snapshot, (const guint32 *) (gpointer) choice->values->data, choice->values->len,
                                     (int) choice->kind, &why);
  text = gantry_format_placed ((int) choice->kind, n, why);
  if (text != NULL && window != NULL)
    gtk_widget_activate_action (window, "win.tell", "s", text);
}

/* Kinds @first to @last in a row. */
static void
add_choices (GantryRows *rows, const GantryInspected *what, const Placing *p, guint first, guint last, const char *label)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);

  gtk_widget_add_css_class (box, "linked");
  for (guint kind = first; kind <= last; kind++)
    {
      GtkWidget *button = gtk_toggle_button_new_with_label (words[kind]);
      g_autofree char *tooltip = g_strdup_printf ("%s the selected value (%s in the graph)", verbs[kind], keys[kind]);
      gboolean can = (p->allowed_any >> kind & 1) != 0;

      Choice *choice = g_new (Choice, 1);

      *choice = (Choice){ g_object_ref (what->document), what->compilation->n_snapshots - 1, g_array_ref (p->values), kind, p->n_of[kind] == p->values->len };
      gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (button), choice->chosen);
      gtk_widget_set_sensitive (button, can);
      g_signal_connect_data (button, "clicked", G_CALLBACK (choose), choice, choice_free, 0);
      gtk_widget_set_tooltip_text (button, can || p->why_not_of[kind] == NULL ? tooltip : p->why_not_of[kind]);
      gtk_widget_set_hexpand (button, TRUE);
      gtk_box_append (GTK_BOX (box), button);
    }
  gtk_accessible_update_property (GTK_ACCESSIBLE (box), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  gantry_rows_widget (rows, box);
}

/* The same choice for more than what is selected. */
static void
add_reaches (GantryRows *rows, const Placing *p)
{
  static const struct
  {
    const char *label, *reach, *tooltip;
  } reaches[] = { { "Scope", "scope", "Place all values of the scope like this one (Shift with K, R, O or B)" },
                  { "Equal blocks", "alike", "Place the same value of every equal block like this one (Ctrl+Shift)" },
                  { "Matches", "matches", "Place everything that the search has found like this value" },
                  { "Policy", NULL, "Take the choice back: as the policy says (U)" } };
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  guint kind = 0;

  for (guint k = 1; k < GANTRY_N_PLACEMENTS; k++)
    if (p->n_of[k] > p->n_of[kind])
      kind = k;
  gtk_widget_add_css_class (box, "linked");
  for (guint i = 0; i < G_N_ELEMENTS (reaches); i++)
    {
      GtkWidget *button = gtk_button_new_with_label (reaches[i].label);
      g_autofree char *target = reaches[i].reach != NULL ? g_strdup_printf ("%s %s", gantry_placement_kind_name ((GantryPlacementKind) kind), reaches[i].reach)
                                                         : g_strdup ("unset");

      gtk_actionable_set_action_target (GTK_ACTIONABLE (button), "s", target);
      gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.place");
      gtk_widget_set_tooltip_text (button, reaches[i].tooltip);
      gtk_widget_add_css_class (button, "flat");
      gtk_widget_add_css_class (button, "caption");
      gtk_box_append (GTK_BOX (box), button);
    }
  gantry_rows_widget (rows, box);
}

/* ", step (+0.3 ms)", or what there is to say where not both have a time. @limit: 0: none. (transfer full) */
static char *
time_change_text (GantryDocument *document, const GantryPrediction *now, const GantryPrediction *then, guint64 limit)
{
  gboolean fits = gantry_document_fits (document), will = limit == 0 || then->peak_bytes <= limit;
  g_autofree char *time = gantry_format_ns ((gint64) (then->step_us * 1000));
  g_autofree char *delta = gantry_format_delta_ns ((gint64) ((then->step_us - now->step_us) * 1000));

  if (!will)
    return g_strdup (", " GANTRY_DOES_NOT_FIT);
  return fits ? g_strdup_printf (", step%s", delta) : g_strdup_printf (", fits, step %s", time);
}

/* "−12.0 MiB of peak, +0.3 ms" were all of them @kind. */
static char *
change_text (const Placing *p, GantryDocument *document, GantryPlacementKind kind)
{
  const GantryForecast *now = gantry_document_get_prediction (document);
  guint64 limit = gantry_document_get_settings (document)->target.memory_limit;
  g_autoptr (GantryPlacements) placements = gantry_placements_copy (p->placements);
  g_autoptr (GantryPrediction) prediction = gantry_prediction_new ();
  g_autofree char *bytes = NULL, *time = NULL;

  for (guint i = 0; i < p->values->len; i++)
    {
      gint index = gantry_planner_candidate_of (p->planner, g_array_index (p->values, guint32, i));

      if (index >= 0 && (p->candidates[index].allowed >> kind & 1) != 0)
        gantry_placements_set (placements, &(GantryPlacement){ .node = p->candidates[index].node,
                                                               .kind = (guint8) kind,
                                                               .decider = GANTRY_DECIDED_BY_CLICK,
                                                               .memory = GANTRY_MEMORY_PINNED_HOST,
                                                               .subject = p->candidates[index].subject });
    }
  gantry_planner_predict (p->planner, placements, prediction);
  bytes = gantry_format_delta_bytes ((gint64) prediction->peak_bytes - (gint64) now->prediction->peak_bytes);
  time = time_change_text (document, now->prediction, prediction, limit);
  return g_strdup_printf ("peak%s%s", bytes, time);
}

static void
add_changes (GantryRows *rows, const GantryInspected *what, const Placing *p)
{
  if (gantry_document_get_prediction (what->document) == NULL || p->values->len > MOST_ASKED)
    return;
  for (guint kind = 0; kind < GANTRY_N_PLACEMENTS; kind++)
    if ((p->allowed_any >> kind & 1) != 0 && p->n_of[kind] < p->values->len)
      gantry_rows_take (rows, gantry_placement_kind_name ((GantryPlacementKind) kind), change_text (p, what->document, (GantryPlacementKind) kind));
}

void
_gantry_inspect_placement (GantryRows *rows, const GantryInspected *what, const guint32 *nodes, guint n)
{
  g_autoptr (GArray) values = NULL;
  Placing p = { 0 };
  const GantryPlacement *entry;

  if (gantry_document_get_placements (what->document) == NULL)
    return;
  values = gantry_document_placeable (what->document, what->snapshot, nodes, n);
  if (!look_at (&p, what, values))
    return;
  gantry_rows_section (rows, "Placement");
  add_choices (rows, what, &p, GANTRY_PLACEMENT_KEEP, GANTRY_PLACEMENT_OFFLOAD, "Placement");
  if ((p.allowed_any & GANTRY_APPROXIMATE_PLACEMENTS) != 0)
    add_choices (rows, what, &p, GANTRY_PLACEMENT_BF16, GANTRY_PLACEMENT_INT8, "Placement in fewer bits, approximate");
  add_reaches (rows, &p);
  if (values->len == 1)
    {
      const GantryCandidate *candidate = &p.candidates[gantry_planner_candidate_of (p.planner, g_array_index (values, guint32, 0))];

      entry = gantry_placements_find (p.placements, candidate->node);
      gantry_rows_text (rows, "what it is", gantry_placement_subject_name ((GantryPlacementSubject) candidate->subject));
      gantry_rows_take (rows, "bytes", gantry_format_bytes (candidate->bytes));
      gantry_rows_text (rows, "decided by", gantry_decider_name (entry != NULL ? (GantryDecider) entry->decider : GANTRY_DECIDED_BY_DEFAULT));
    }
  else
    gantry_rows_take (rows, "values", gantry_format_integer (values->len));
  add_changes (rows, what, &p);
  if (p.n_of[GANTRY_PLACEMENT_BF16] + p.n_of[GANTRY_PLACEMENT_INT8] > 0)
    gantry_rows_note (rows, "Stored in fewer bits: results of a run are approximate");
  if (p.why_not != NULL && (p.allowed & GANTRY_EXACT_PLACEMENTS) != GANTRY_EXACT_PLACEMENTS)
    gantry_rows_note (rows, p.why_not);
}
