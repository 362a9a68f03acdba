/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that change files, of this program and of the libraries that it uses, which fail at a chosen one as a full disk, a broken
 * one or a kill would. Linked into a test, its functions take the place of the C library's. */
#pragma once
#include <glib.h>

typedef enum
{
  WRITE_GOOD,
  WRITE_FULL,  /* ENOSPC */
  WRITE_IO,    /* EIO */
  WRITE_SHORT, /* half of it is written, which is no error; the next call fails with ENOSPC */
  WRITE_KILL,  /* half of it is written, then the process is gone, with status 99 */
  N_WRITE_FAULTS
} WriteFault;

/** @call: number of the call from now on that fails (from 1), and all after it but for a kill */
void faulty_writes_arm (WriteFault fault, guint call);
/** Returns: calls since it was armed */
guint faulty_writes_calls (void);
