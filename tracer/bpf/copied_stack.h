/* The registers that a thread had outside of the kernel and the top of its stack, for unwinding there.
 *
 * Defines: STACK_BYTES.
 */
#define REGISTERS 17
#define PIECE_BYTES 1024 /* the copy ends at the first piece that isn't all mapped */

static __always_inline struct pt_regs *user_registers(void) {
  return (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
}

static __always_inline void copy_registers(u64 *to, struct pt_regs *from) {
  to[0] = from->ax;
  to[1] = from->dx;
  to[2] = from->cx;
  to[3] = from->bx;
  to[4] = from->si;
  to[5] = from->di;
  to[6] = from->bp;
  to[7] = from->sp;
  to[8] = from->r8;
  to[9] = from->r9;
  to[10] = from->r10;
  to[11] = from->r11;
  to[12] = from->r12;
  to[13] = from->r13;
  to[14] = from->r14;
  to[15] = from->r15;
  to[16] = from->ip;
}

static __always_inline u32 copy_stack(u8 *to, u64 sp) {
  u32 bytes = 0;
  for (u32 piece = 0; piece < STACK_BYTES / PIECE_BYTES; piece++) {
    if (bpf_probe_read_user(to + piece * PIECE_BYTES, PIECE_BYTES, (void *)(sp + piece * PIECE_BYTES)))
      break;
    bytes += PIECE_BYTES;
  }
  return bytes;
}
