/* What a program on a tracepoint answers: with 0, perf would not see the event, and would not say so either. */
#define PASS_ON 1
