/* SPDX-License-Identifier: Apache-2.0 */
/* A layer under SQLite that fails at a chosen call, as a disk, a kill or a power cut would. */
#pragma once
#include <glib.h>

typedef enum
{
  FAULT_NONE,
  FAULT_FULL,        /* the write says that no space is left; files are still deleted */
  FAULT_IO,          /* the write fails */
  FAULT_SHORT_WRITE, /* half of the bytes are written, then it fails */
  FAULT_KILL,        /* half of the bytes are written, then the process is gone */
} Fault;

/** Makes it SQLite's default for this process; once. */
void faulty_vfs_install (void);
/** @call: number of the write, sync, truncation or deletion from now on that fails (from 1), and all after it but for a kill */
void faulty_vfs_arm (Fault fault, guint call);
/** Returns: calls since it was armed */
guint faulty_vfs_calls (void);
