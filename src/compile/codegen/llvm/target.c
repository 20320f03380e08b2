/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The processor that code is made for. This one tells its features; what a named
 * one can do is found by compiling a few lines for it and looking at the result,
 * because LLVM's C interface does not say. Any processor will do: LLVM cuts
 * vectors to its registers, and where it has no instruction for a fused
 * multiply-add, a half or a rounding, LLVM calls library_calls.def's functions
 * lane by lane, which is right and slow.
 */
#include "compile/codegen/llvm/llvm.h"

#include <pthread.h>
#include <string.h>

#include <llvm-c/IRReader.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>

#include "base/alloc.h"
#include "base/thread.h"

struct target {
    char *triple;
    const char *cpu, *features; /* what LLVM is told */
    char *host_cpu, *host_features;
    bool wide; /* vectors of 512 bits, with masks, and multiplication of 64-bit integers in smaller ones */
    bool pairs, bytes; /* as in struct cg_unit */
};

static pthread_once_t initialised = PTHREAD_ONCE_INIT;

/* LLVM's switches. Without the first, a pass follows the places of variables through each function, which costs a
 * thirtieth of all compiling; this code has lines for debuggers, but no variables. The second is how many accesses to
 * memory its schedulers look back at for each, to see which may touch the same place: a thousand by default, in time by
 * the square of that. The third is how far the register allocator looks for a place to spill a value that lives across
 * many blocks: ten thousand steps for each by default, which is what a jump with many ways costs. The code is the same
 * with a thousand (docs/benchmarks.md, "Single figures"). The last leaves out a pass that moves values between
 * registers and masks: it takes time by the square of the loops, and changes nothing in what this code asks for. */
static const char *const switches[] = {"millrace", "-experimental-debug-variable-locations=false",
                                       "-dag-maps-huge-region=64", "-grow-region-complexity-budget=1000",
#if defined(__x86_64__)
                                       "-disable-x86-domain-reassignment"
#endif
};

static void initialise(void)
{
    LLVMParseCommandLineOptions(sizeof switches / sizeof *switches, switches, "");
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
}

static LLVMTargetMachineRef create_machine(const struct target *target, LLVMCodeGenOptLevel level)
{
    LLVMTargetRef found;
    char *message = NULL;
    if (LLVMGetTargetFromTriple(target->triple, &found, &message)) {
        LLVMDisposeMessage(message);
        return NULL;
    }
    return LLVMCreateTargetMachine(found, target->triple, target->cpu, target->features, level, LLVMRelocPIC,
                                   LLVMCodeModelSmall);
}

#if defined(__x86_64__)
static bool has_feature(const char *features, const char *name)
{
    const char *place = strstr(features, name);
    size_t length = strlen(name);
    while (place && place[length] != ',' && place[length] != 0)
        place = strstr(place + 1, name);
    return place != NULL;
}

static const char probe[] =
    "define <4 x i64> @masked(<4 x i64> %a) {\n  %r = mul <4 x i64> %a, %a\n  ret <4 x i64> %r\n}\n"
    "define <64 x i8> @bytes(<64 x i8> %a) #0 {\n  %r = add <64 x i8> %a, %a\n  ret <64 x i8> %r\n}\n"
    "declare <4 x i32> @llvm.x86.sse2.pmadd.wd(<8 x i16>, <8 x i16>)\n"
    "define <4 x i32> @pairs(<4 x i32> %s, <8 x i16> %a, <8 x i16> %b) {\n"
    "  %p = call <4 x i32> @llvm.x86.sse2.pmadd.wd(<8 x i16> %a, <8 x i16> %b)\n"
    "  %r = add <4 x i32> %s, %p\n  ret <4 x i32> %r\n}\n"
    "attributes #0 = { \"min-legal-vector-width\"=\"512\" \"prefer-vector-width\"=\"512\" }\n";

/* Whether the instruction occurs with a register of that kind. */
static bool has_line(const char *text, const char *instruction, const char *reg)
{
    for (const char *at = text; (at = strstr(at, instruction)) != NULL; at++) {
        const char *end = strchr(at, '\n'), *place = strstr(at, reg);
        if (place && (!end || place < end))
            return true;
    }
    return false;
}

static void probe_target(struct target *target)
{
    LLVMContextRef context = LLVMContextCreate();
    LLVMMemoryBufferRef text = LLVMCreateMemoryBufferWithMemoryRange(probe, sizeof probe - 1, "probe", 1),
                        assembly = NULL;
    LLVMTargetMachineRef machine = create_machine(target, LLVMCodeGenLevelDefault);
    LLVMModuleRef module = NULL;
    char *message = NULL;
    if (machine && !LLVMParseIRInContext(context, text, &module, &message) &&
        !LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMAssemblyFile, &message, &assembly)) {
        const char *code = LLVMGetBufferStart(assembly);
        target->wide = has_line(code, "vpmullq", "%ymm") && has_line(code, "vpaddb", "%zmm");
        target->pairs = target->wide || has_line(code, "vpaddb", "%ymm");
        target->bytes = target->wide && strstr(code, "vpdpwssd") != NULL;
        LLVMDisposeMemoryBuffer(assembly);
    }
    LLVMDisposeMessage(message);
    if (module)
        LLVMDisposeModule(module);
    if (machine)
        LLVMDisposeTargetMachine(machine);
    LLVMContextDispose(context);
}

static void find_abilities(struct target *target, bool named)
{
    if (named) {
        probe_target(target);
        return;
    }
    const char *features = target->features;
    target->wide = has_feature(features, "+avx512f") && has_feature(features, "+avx512bw") &&
                   has_feature(features, "+avx512vl") && has_feature(features, "+avx512dq");
    target->pairs = has_feature(features, "+avx2");
    target->bytes = target->wide && has_feature(features, "+avx512vnni");
}
#else
static void find_abilities(struct target *target, bool named)
{
    (void)target;
    (void)named;
}
#endif

/* A processor given by name has the features of that name and no others, unless some are given too. */
static void find_target(struct target *target, const char *cpu, const char *features)
{
    pthread_once(&initialised, initialise);
    target->triple = LLVMGetDefaultTargetTriple();
    target->host_cpu = LLVMGetHostCPUName();
    target->host_features = LLVMGetHostCPUFeatures();
    target->cpu = cpu ? cpu : target->host_cpu;
    target->features = features ? features : cpu ? "" : target->host_features;
    find_abilities(target, cpu || features);
}

static void clear_target(struct target *target)
{
    LLVMDisposeMessage(target->triple);
    LLVMDisposeMessage(target->host_cpu);
    LLVMDisposeMessage(target->host_features);
}

/*
 * Machines are kept for the next request: making one, and what LLVM finds out
 * about the processor at the first function, takes as long as a small kernel.
 */
struct cg_machine {
    struct cg_machine *next; /* of the idle ones */
    LLVMTargetMachineRef machine;
    LLVMTargetDataRef layout;
    struct target target;
    char *cpu, *features; /* as the request has them */
    LLVMCodeGenOptLevel level;
};

#define IDLE_MOST 4u

static struct {
    mr_lock lock;
    struct cg_machine *first;
    unsigned count;
} idle = {.lock = MR_LOCK_INIT(TARGETS)};

static bool same_text(const char *one, const char *other)
{
    return one && other ? strcmp(one, other) == 0 : one == other;
}

static struct cg_machine *take_idle(const struct mr_codegen_request *request, LLVMCodeGenOptLevel level)
{
    mr_lock_take(&idle.lock);
    struct cg_machine **place = &idle.first, *found;
    while ((found = *place) && (found->level != level || !same_text(found->cpu, request->cpu) ||
                                !same_text(found->features, request->features)))
        place = &found->next;
    if (found) {
        *place = found->next;
        idle.count--;
    }
    mr_lock_drop(&idle.lock);
    return found;
}

static void free_machine(struct cg_machine *made)
{
    if (made->layout)
        LLVMDisposeTargetData(made->layout);
    if (made->machine)
        LLVMDisposeTargetMachine(made->machine);
    clear_target(&made->target);
    mr_free(made->cpu);
    mr_free(made->features);
    mr_free(made);
}

static struct cg_machine *make_machine(struct cg_unit *unit, LLVMCodeGenOptLevel level)
{
    const struct mr_codegen_request *request = unit->request;
    struct cg_machine *made = mr_calloc(1, sizeof *made);
    if (!made) {
        cg_fail(unit, NULL, "memory is short");
        return NULL;
    }
    made->level = level;
    made->cpu = request->cpu ? mr_memdup(request->cpu, strlen(request->cpu) + 1) : NULL;
    made->features = request->features ? mr_memdup(request->features, strlen(request->features) + 1) : NULL;
    find_target(&made->target, made->cpu, made->features);
    bool whole = !made->cpu == !request->cpu && !made->features == !request->features;
    if (whole && (made->machine = create_machine(&made->target, level)) != NULL) {
        made->layout = LLVMCreateTargetDataLayout(made->machine);
        return made;
    }
    cg_fail(unit, NULL, whole ? "there is no code generator for this processor" : "memory is short");
    free_machine(made);
    return NULL;
}

static LLVMCodeGenOptLevel level_of(const struct mr_codegen_request *request)
{
    static const LLVMCodeGenOptLevel levels[] = {LLVMCodeGenLevelNone, LLVMCodeGenLevelLess};
    if (request->hurry || request->quick_backend)
        return LLVMCodeGenLevelNone;
    return request->optimisation < 2 ? levels[request->optimisation] : LLVMCodeGenLevelDefault;
}

bool cg_machine_take(struct cg_unit *unit)
{
    LLVMCodeGenOptLevel level = level_of(unit->request);
    unit->taken = take_idle(unit->request, level);
    if (!unit->taken && !(unit->taken = make_machine(unit, level)))
        return false;
    unit->machine = unit->taken->machine;
    unit->wide = unit->taken->target.wide;
    unit->pairs = unit->taken->target.pairs;
    unit->bytes = unit->taken->target.bytes;
    LLVMSetModuleDataLayout(unit->module, unit->taken->layout);
    LLVMSetTarget(unit->module, unit->taken->target.triple);
    return true;
}

void cg_machine_give(struct cg_unit *unit)
{
    struct cg_machine *given = unit->taken;
    if (!given)
        return;
    unit->taken = NULL;
    unit->machine = NULL;
    mr_lock_take(&idle.lock);
    bool keep = idle.count < IDLE_MOST;
    if (keep) {
        given->next = idle.first;
        idle.first = given;
        idle.count++;
    }
    mr_lock_drop(&idle.lock);
    if (!keep)
        free_machine(given);
}
