/*
 * Logs what a process allocates and frees, one event a line, the stack of an allocation below it:
 *
 *     dtrace -Z -q -s memory.d -p PID -o memory.txt        -c COMMAND instead of -p PID starts a program
 *
 * Each call is logged, so it suits minutes of a process, not days. Blocks from before it are not known.
 * Stacks are found by frame pointers. -Z lets it run where one of the functions does not exist.
 */

#pragma D option quiet
#pragma D option bufsize=16m
#pragma D option switchrate=10hz
#pragma D option ustackframes=128

dtrace:::BEGIN
{
	printf("# memflame-dtrace 1\n");
}

/* Of allocators that call each other, only the outermost call counts. */
pid$target::malloc:entry, pid$target::valloc:entry
/self->depth == 0/
{
	self->bytes = arg0;
}

pid$target::calloc:entry
/self->depth == 0/
{
	self->bytes = arg0 * arg1;
}

pid$target::memalign:entry, pid$target::aligned_alloc:entry
/self->depth == 0/
{
	self->bytes = arg1;
}

pid$target::realloc:entry
/self->depth == 0/
{
	self->old = arg0;
	self->bytes = arg1;
}

pid$target::posix_memalign:entry
/self->depth == 0/
{
	self->slot = arg0;
	self->bytes = arg2;
}

pid$target::free:entry
/self->depth == 0 && arg0 != 0/
{
	printf("free %d 0x%x\n", timestamp, (uint64_t)arg0);
}

pid$target::malloc:entry, pid$target::valloc:entry, pid$target::calloc:entry, pid$target::memalign:entry,
pid$target::aligned_alloc:entry, pid$target::realloc:entry, pid$target::posix_memalign:entry
{
	self->depth++;
}

/* A call that was under way when the script began has no entry. */
pid$target::malloc:return, pid$target::valloc:return, pid$target::calloc:return, pid$target::memalign:return,
pid$target::aligned_alloc:return, pid$target::realloc:return, pid$target::posix_memalign:return
/self->depth > 0/
{
	self->depth--;
	self->is_outermost = self->depth == 0;
}

pid$target::malloc:return, pid$target::valloc:return, pid$target::calloc:return, pid$target::memalign:return,
pid$target::aligned_alloc:return
/self->is_outermost && arg1 != 0/
{
	printf("malloc %d 0x%x %d\n", timestamp, (uint64_t)arg1, self->bytes);
	ustack();
	printf("\n");
}

pid$target::realloc:return
/self->is_outermost && arg1 != 0/
{
	printf("realloc %d 0x%x 0x%x %d\n", timestamp, (uint64_t)self->old, (uint64_t)arg1, self->bytes);
	ustack();
	printf("\n");
}

pid$target::realloc:return
/self->is_outermost && arg1 == 0 && self->bytes == 0 && self->old != 0/
{
	printf("free %d 0x%x\n", timestamp, (uint64_t)self->old);
}

pid$target::posix_memalign:return
/self->is_outermost && arg1 == 0/
{
	printf("malloc %d 0x%x %d\n", timestamp, (uint64_t)*(uintptr_t *)copyin(self->slot, sizeof(uintptr_t)), self->bytes);
	ustack();
	printf("\n");
}

pid$target::malloc:return, pid$target::valloc:return, pid$target::calloc:return, pid$target::memalign:return,
pid$target::aligned_alloc:return, pid$target::realloc:return, pid$target::posix_memalign:return
/self->is_outermost/
{
	self->is_outermost = 0;
	self->bytes = 0;
	self->old = 0;
	self->slot = 0;
}
