#include "engine/agents/generator.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <set>
#include <utility>

namespace kernelskill::engine {
namespace {

void replaceAll(std::string& text, std::string_view from, std::string_view to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

/// The reviewer speaks of an original kernel; here that is the reference.
void nameReference(Verdict& verdict, const std::string& name) {
    const std::string quoted = "'" + name + "'";
    for (Check& check : verdict.checks) {
        for (std::string* text : {&check.name, &check.detail}) {
            replaceAll(*text, "the original", quoted);
            replaceAll(*text, "matches original", "matches " + quoted);
        }
    }
    replaceAll(verdict.summary, "the original", quoted);
    replaceAll(verdict.summary, "matches original", "matches " + quoted);
}

std::string summaryOf(const Verdict& verdict, const std::string& name) {
    const std::string begin = "matches '" + name + "', seed ";
    std::size_t inputs = 0;
    std::set<std::string> sizes;
    for (const Check& check : verdict.checks) {
        if (!check.name.starts_with(begin))
            continue;
        ++inputs;
        sizes.insert(check.name.substr(check.name.find(", ", begin.size()) + 2));
    }
    return fmt::format("Computes what '{}' does on {} fresh inputs of {} size{}. Not measured: "
                       "there is no kernel to compare it with.",
                       name, inputs, sizes.size(), sizes.size() == 1 ? "" : "s");
}

} // namespace

Result<GeneratedKernel> Generator::generate(const ProgramSource& program,
                                            const Reference& reference, std::stop_token stop,
                                            const ProgressSink& progress,
                                            const ReviewOptions& options) const {
    auto draft = reference.draft();
    if (!draft)
        return std::unexpected(Error{ErrorKind::Unsupported,
                                     fmt::format("no kernel can be generated from '{}': {}",
                                                 reference.name(), draft.error().reason),
                                     draft.error().gate, ""});
    if (progress)
        progress("parsing the reference", 0);
    ProgramSource original = program;
    original.text = draft->referenceText;
    original.captures = nullptr;
    auto model = analysis::analyzeFile(original.file, original.text, original.command, toolchain_,
                                       original.unsaved);
    if (!model)
        return std::unexpected(model.error());
    original.model = std::make_shared<const analysis::FileModel>(std::move(*model));
    const analysis::KernelModel* kernel = analysis::kernelNamed(*original.model, draft->kernel);
    if (kernel == nullptr)
        return std::unexpected(Error{ErrorKind::Internal,
                                     "the reference of '" + reference.name() + "' does not parse",
                                     program.file, ""});
    const auto size = static_cast<std::uint32_t>(original.text.size());
    ReviewOptions untimed = options;
    untimed.measure = false; // one thread beside many says nothing
    auto verdict =
        reviewer_.review(original, *kernel, {{original.file, {{{0, size}, draft->candidateText}}}},
                         draft->numerics, std::move(stop), progress, untimed);
    if (!verdict)
        return std::unexpected(verdict.error());
    verdict->before.clear();
    verdict->after.clear();
    nameReference(*verdict, reference.name());
    GeneratedKernel generated{reference.name(),        draft->kernel,       draft->why,
                              std::move(draft->edits), std::move(*verdict), ""};
    if (generated.acceptable())
        generated.verdict.summary = summaryOf(generated.verdict, reference.name());
    for (const auto& [file, edits] : generated.edits) {
        const auto open = program.unsaved.find(file);
        const std::string& before =
            file == program.file || open == program.unsaved.end() ? program.text : open->second;
        if (const auto after = analysis::applyEdits(before, edits))
            generated.diff += analysis::unifiedDiff(file, before, *after);
    }
    return generated;
}

} // namespace kernelskill::engine
