#include "lsp-server/features/assembly.h"

#include "analysis/source/files.h"
#include "engine/diagnosis/gpus.h"
#include "engine/review/edited_program.h"
#include "lsp-server/features/offered_skill.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace kernelskill::lsp {

namespace {

/// A text to compile, with what it is called.
struct Version {
    std::string label;
    engine::ProgramSource program;
};

std::unexpected<Error> invalid(std::string what, std::string where) {
    return std::unexpected(Error{ErrorKind::InvalidInput, std::move(what), std::move(where), {}});
}

Result<std::string> architectureOf(const AssemblyQuestion& question) {
    if (!question.architecture.empty() || question.gpu.empty())
        return question.architecture;
    const auto& gpus = engine::builtinGpus();
    const engine::Gpu* gpu = gpus ? engine::gpuNamed(*gpus, question.gpu) : nullptr;
    if (gpu == nullptr)
        return invalid(fmt::format("no GPU '{}' is known", question.gpu), "");
    return analysis::architectureName(gpu->capability);
}

Result<engine::ProgramSource> parsed(engine::ProgramSource program,
                                     const analysis::Toolchain& toolchain) {
    auto model = analysis::analyzeFile(program.file, program.text, program.command, toolchain,
                                       program.unsaved);
    if (!model)
        return std::unexpected(std::move(model.error()));
    program.model = std::make_shared<const analysis::FileModel>(std::move(*model));
    return program;
}

/// The snapshot's program with the text of `file` on disk.
Result<engine::ProgramSource> onDisk(const Snapshot& snapshot, const std::string& file) {
    auto text = analysis::readFile(file);
    if (!text)
        return invalid("the file cannot be read", file);
    if (auto problem = textProblem(*text); !problem.empty())
        return invalid(std::move(problem), file);
    auto program = snapshot.program;
    std::error_code ignored;
    program.file = std::filesystem::absolute(file, ignored).lexically_normal().string();
    program.text = std::move(*text);
    return parsed(std::move(program), snapshot.workbench->toolchain());
}

Result<engine::ProgramSource> withSkill(const Snapshot& snapshot,
                                        const analysis::KernelModel& kernel,
                                        const AssemblyQuestion& question) {
    const auto& all = snapshot.workbench->library().documents;
    if (std::ranges::find(all, question.other, &skills::SkillMetadata::id) == all.end())
        return invalid(fmt::format("no skill '{}'", question.other), "");
    const auto offer = offerOf(snapshot, kernel, question.line, question.other);
    if (!offer)
        return std::unexpected(offer.error());
    const auto edits = snapshot.workbench->advisor().draft({snapshot.program, kernel}, *offer);
    if (!edits)
        return std::unexpected(edits.error());
    auto program = engine::withEdits(snapshot.program, *edits);
    if (!program)
        return std::unexpected(std::move(program.error()));
    return parsed(std::move(*program), snapshot.workbench->toolchain());
}

Result<std::vector<Version>> versionsOf(const Snapshot& snapshot,
                                        const analysis::KernelModel& kernel,
                                        const AssemblyQuestion& question) {
    const auto& own = snapshot.program;
    const auto pair = [&](Result<engine::ProgramSource> other, const std::string& otherLabel,
                          const std::string& ownLabel,
                          bool otherIsFirst) -> Result<std::vector<Version>> {
        if (!other)
            return std::unexpected(std::move(other.error()));
        std::vector<Version> versions{{otherLabel, std::move(*other)}, {ownLabel, own}};
        if (!otherIsFirst)
            std::ranges::reverse(versions);
        return versions;
    };
    switch (question.baseline) {
    case AssemblyBaseline::None:
        break;
    case AssemblyBaseline::Saved:
        return pair(onDisk(snapshot, own.file), "saved", "editor", true);
    case AssemblyBaseline::File:
        return pair(onDisk(snapshot, question.other), question.other, own.file, true);
    case AssemblyBaseline::Skill:
        return pair(withSkill(snapshot, kernel, question), "with " + question.other, own.file,
                    false);
    }
    return std::vector<Version>{{own.file, own}};
}

/// The kernel of the same name, else the only one.
const analysis::KernelModel* counterpart(const analysis::FileModel& model,
                                         const analysis::KernelModel& kernel) {
    if (const auto* named = analysis::kernelNamed(model, kernel.qualifiedName))
        return named;
    return model.kernels.size() == 1 ? &model.kernels.front() : nullptr;
}

} // namespace

Result<AssemblyView> assemblyView(const Snapshot& snapshot, const analysis::KernelModel& kernel,
                                  const AssemblyQuestion& question, const std::stop_token& stop,
                                  const engine::ProgressSink& progress) {
    const auto architecture = architectureOf(question);
    if (!architecture)
        return std::unexpected(architecture.error());
    auto versions = versionsOf(snapshot, kernel, question);
    if (!versions)
        return std::unexpected(std::move(versions.error()));
    AssemblyView view;
    engine::AssemblyRequest request{question.language, *architecture};
    for (auto& version : *versions) {
        if (progress)
            progress("compiling " + kernel.name, static_cast<double>(view.versions.size()) /
                                                     static_cast<double>(versions->size()));
        const auto* here = counterpart(*version.program.model, kernel);
        if (here == nullptr)
            return invalid(fmt::format("no kernel '{}'", kernel.qualifiedName),
                           version.program.file);
        auto assembly =
            snapshot.workbench->profiler().assembly({version.program, *here}, request, stop);
        if (!assembly) {
            if (versions->size() > 1 && assembly.error().kind == ErrorKind::Failed)
                assembly.error().what = version.label + ": " + assembly.error().what;
            return std::unexpected(std::move(assembly.error()));
        }
        // Both of the same kind: what the first was is what the second is to be.
        request = {assembly->listing.language, assembly->facts.architecture};
        view.versions.push_back(
            {std::move(version.label), std::move(version.program), std::move(*assembly)});
    }
    if (view.versions.size() == 2)
        view.difference = engine::compareListings(view.versions[0].assembly.listing,
                                                  view.versions[1].assembly.listing);
    return view;
}

} // namespace kernelskill::lsp
