#include "engine/candidate_diagnosis/compile_cause.h"

#include "engine/repair/repairer.h"

#include <spdlog/fmt/fmt.h>

#include <optional>

namespace kernelskill::engine {
namespace {

constexpr const char* compiles = "code that compiled before compiles with the edit";

std::string described(const analysis::FileModel& model, const analysis::Diagnostic& diagnostic) {
    if (!model.source || diagnostic.file != model.file)
        return diagnostic.message;
    return fmt::format("line {}: {}", model.source->lineColumn(diagnostic.span.begin).line + 1,
                       diagnostic.message);
}

} // namespace

CandidateDiagnosis compileCause(const KernelVersion& after, const ReviewFailure& failure,
                                const analysis::Toolchain& toolchain, const std::stop_token& stop) {
    const ProgramSource& program = after.program;
    CandidateDiagnosis found;
    found.cause = "does-not-compile";
    found.invariant = compiles;
    if (failure.stage == ReviewStage::Compile) {
        const bool isOnGpu = failure.trial && failure.trial->isOnGpu;
        found.cause = isOnGpu ? "gpu-compiler-refuses" : "does-not-compile";
        found.sentence = isOnGpu ? "the GPU's compiler refuses it"
                                 : "it parses, but the emulator's compiler refuses it";
        if (failure.error)
            found.evidence.push_back(failure.error->describe());
        return found;
    }
    const auto root = diagnoseFailure(*program.model);
    if (!root) {
        found.sentence = "the kernel is gone";
        return found;
    }
    const auto fixes = proposeFixes(*program.model, program.command, toolchain, std::nullopt, stop,
                                    program.unsaved);
    found.evidence.push_back(described(*program.model, root->diagnostic));
    found.sentence = "it does not compile";
    if (fixes.empty())
        return found;
    const CompileFix& likeliest = fixes.front();
    found.cause = likeliest.failure.cause;
    found.sentence = likeliest.failure.explanation;
    found.repair = likeliest.title;
    return found;
}

} // namespace kernelskill::engine
