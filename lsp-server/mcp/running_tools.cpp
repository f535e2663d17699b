// Tools that compile and run kernels, and write nothing.
#include "analysis/source/files.h"
#include "analysis/source/unified_patch.h"
#include "engine/comparison/program_difference.h"
#include "lsp-server/documents/old_version.h"
#include "lsp-server/mcp/answer_text.h"
#include "lsp-server/mcp/schema.h"
#include "lsp-server/mcp/tool.h"
#include "lsp-server/report/json_report.h"
#include "lsp-server/report/verification_json.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

Result<ToolAnswer> profile(const ToolCall& call) {
    const auto opened = call.openKernel();
    if (!opened)
        return std::unexpected(opened.error());
    const engine::KernelRef ref = opened->ref();
    const engine::Profiler& profiler = call.workbench->profiler();
    const auto report = call.text("on") == "gpu"
                            ? profiler.profileOnGpu(ref, call.stop, call.progress)
                            : profiler.profile(ref, call.stop, call.progress);
    if (!report)
        return std::unexpected(report.error());
    return ToolAnswer{profileJson(*report), profileText(*report)};
}

engine::VerifyOptions optionsOf(const ToolCall& call) {
    engine::VerifyOptions options;
    options.kernel = call.text("kernel");
    if (call.flag("exact"))
        options.accuracy = skills::Numerics::Exact;
    return options;
}

Result<ToolAnswer> judged(const ToolCall& call, const engine::ProgramSource& before,
                          const engine::ProgramSource& after, const std::string& against,
                          const std::string& called, const std::string& commit) {
    const auto done =
        call.workbench->verifier().verify(before, after, optionsOf(call), call.stop, call.progress);
    if (!done)
        return std::unexpected(done.error());
    return ToolAnswer{verificationJson(*done, after, against, commit),
                      verificationText(*done, called)};
}

Result<ToolAnswer> verify(const ToolCall& call) {
    const auto snapshot = call.open();
    if (!snapshot)
        return std::unexpected(snapshot.error());
    const std::string against = call.text("against", "HEAD");
    const auto old = analysis::isFile(call.root / against)
                         ? versionInFile(**snapshot, call.root / against)
                         : versionInRevision(**snapshot, against, call.stop);
    if (!old)
        return std::unexpected(old.error());
    return judged(call, old->program, (*snapshot)->program, against, old->called, old->commit);
}

/// The file of the program that a patch is for: the main file if the patch names none.
Result<std::string> fileOf(const analysis::FilePatch& patch, const Snapshot& snapshot) {
    const std::string& main = snapshot.program.file;
    if (patch.path.empty())
        return main;
    const auto isMeant = [&](const std::string& file) {
        return file == patch.path || file.ends_with("/" + patch.path);
    };
    if (isMeant(main))
        return main;
    const auto& files = snapshot.model().userFiles;
    const auto found = std::ranges::find_if(files, isMeant);
    if (found != files.end())
        return *found;
    return std::unexpected(Error{
        ErrorKind::InvalidInput,
        fmt::format("the diff changes {}, which is not one of the files of {}", patch.path, main),
        "", fmt::format("it may change {}", fmt::join(files, ", "))});
}

/// The program with the text or the diff that the arguments propose, without a model.
Result<engine::ProgramSource> proposed(const ToolCall& call, const Snapshot& snapshot) {
    engine::ProgramSource after = snapshot.program;
    after.model = nullptr;
    const bool hasText = call.arguments.contains("text");
    if (hasText == call.arguments.contains("diff"))
        return std::unexpected(Error{ErrorKind::InvalidInput,
                                     "give either 'text', the whole new text, or 'diff'", "", ""});
    if (hasText) {
        after.text = call.text("text");
        if (std::string problem = textProblem(after.text); !problem.empty())
            return std::unexpected(Error{ErrorKind::InvalidInput, std::move(problem), "", ""});
        return after;
    }
    const auto patches = analysis::parsePatch(call.text("diff"));
    if (!patches)
        return std::unexpected(patches.error());
    for (const analysis::FilePatch& patch : *patches) {
        const auto file = fileOf(patch, snapshot);
        if (!file)
            return std::unexpected(file.error());
        const auto old = engine::textOf(after, *file);
        if (!old)
            return std::unexpected(old.error());
        auto text = analysis::applyPatch(*old, patch);
        if (!text)
            return std::unexpected(text.error());
        if (*file == after.file)
            after.text = std::move(*text);
        else
            after.unsaved[*file] = std::move(*text);
    }
    return after;
}

Result<ToolAnswer> tryEdit(const ToolCall& call) {
    const auto snapshot = call.open();
    if (!snapshot)
        return std::unexpected(snapshot.error());
    auto after = proposed(call, **snapshot);
    if (!after)
        return std::unexpected(after.error());
    auto model = analysis::analyzeFile(after->file, after->text, after->command,
                                       call.workbench->toolchain(), after->unsaved);
    if (!model)
        return std::unexpected(model.error());
    after->model = std::make_shared<const analysis::FileModel>(std::move(*model));
    const std::string name = call.file.filename().string();
    return judged(call, (*snapshot)->program, *after, name, name + " as it is", "");
}

/// The schema of verificationJson().
json verificationSchema() {
    const json text = plainSchema("string");
    return resultSchema(
        {{"file", text},
         {"outcome", choiceSchema("The worst of all kernels", {"right", "not-judged", "wrong"})},
         {"summary", text},
         {"kernels", listSchema(objectSchema())},
         {"unchanged", listSchema(text)},
         {"diff", text},
         {"seconds", plainSchema("number")}});
}

} // namespace

void addRunningTools(std::vector<Tool>& tools) {
    const json text = plainSchema("string");
    const json exact = flagSchema(
        "Results must agree bit by bit. Without it sums may be formed in another order: errors "
        "against float64 must be those of rounding");
    tools.push_back(
        {.name = "profile",
         .title = "Profile a kernel",
         .description =
             "Runs a kernel on the CPU emulator, or on a GPU, and tells its bottleneck with the "
             "evidence, counters by Nsight Compute's names, cost by line, and hazards (races, "
             "accesses out of bounds, uninitialised reads, divergent barriers).",
         .argumentSchema =
             kernelArgumentsSchema({{"on", choiceSchema("Where it runs; the emulator needs no GPU",
                                                        {"emulator", "gpu"})}}),
         .resultSchema = resultSchema({{"kernel", text},
                                       {"executor", text},
                                       {"launch", objectSchema()},
                                       {"metrics", objectSchema()},
                                       {"lines", listSchema(objectSchema())},
                                       {"hazards", listSchema(objectSchema())},
                                       {"bottleneck", objectSchema()}}),
         .runsCode = true,
         .run = profile});
    tools.push_back(
        {.name = "try_edit",
         .title = "Try an edit",
         .description =
             "Judges an edit that you propose, without writing it: give the whole new text of the "
             "file, or a unified diff of it and of headers that it includes. Each kernel that "
             "differs is compiled and run in both versions on the same inputs at many sizes, and "
             "timed where there is a GPU. A wrong edit is answered with the check that failed, the "
             "cause, what was seen and where, the rule that was broken, and what may help.",
         .argumentSchema = argumentsSchema(
             {{"file", fileSchema()},
              {"text", textSchema("The whole new text of the file")},
              {"diff", textSchema("A unified diff; line numbers need not be right")},
              {"kernel", textSchema("Judge this kernel alone")},
              {"exact", exact}},
             {"file"}),
         .resultSchema = verificationSchema(),
         .runsCode = true,
         .run = tryEdit});
    tools.push_back(
        {.name = "verify",
         .title = "Verify the file against another version",
         .description = "Judges the kernels of the file on disk that differ from a revision of git "
                        "or from another file, as try_edit does. Writes nothing.",
         .argumentSchema = argumentsSchema(
             {{"file", fileSchema()},
              {"against", textSchema("A revision of git (HEAD without it), or a file's path")},
              {"kernel", textSchema("Judge this kernel alone")},
              {"exact", exact}},
             {"file"}),
         .resultSchema = verificationSchema(),
         .runsCode = true,
         .run = verify});
}

} // namespace kernelskill::lsp
