// Tools that look at code and run nothing.
#include "analysis/nest/nest.h"
#include "analysis/nest/nest_text.h"
#include "lsp-server/features/check_json.h"
#include "lsp-server/features/memory.h"
#include "lsp-server/mcp/answer_text.h"
#include "lsp-server/mcp/schema.h"
#include "lsp-server/mcp/tool.h"
#include "lsp-server/report/nest_json.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

Result<ToolAnswer> check(const ToolCall& call) {
    const auto snapshot = call.open();
    if (!snapshot)
        return std::unexpected(snapshot.error());
    json found = checkJson(**snapshot, call.file.string());
    for (json& kernel : found.at("kernels"))
        for (const char* member : {"skills", "remedies", "ruled_out", "features"})
            kernel.erase(member); // The tool `plan` has these.
    std::string text = checkText(found);
    return ToolAnswer{std::move(found), std::move(text)};
}

Result<ToolAnswer> plan(const ToolCall& call) {
    const auto opened = call.openKernel();
    if (!opened)
        return std::unexpected(opened.error());
    json found = checkJson(*opened->snapshot, call.file.string());
    for (json& entry : found.at("kernels")) {
        if (entry.at("name") != opened->kernel->qualifiedName)
            continue;
        std::string text = planText(entry);
        return ToolAnswer{std::move(entry), std::move(text)};
    }
    return std::unexpected(Error{ErrorKind::Unsupported,
                                 "the kernel is not one of this file: it comes from a header",
                                 opened->kernel->file, "ask with the header's path"});
}

Result<ToolAnswer> nest(const ToolCall& call) {
    const auto opened = call.openKernel();
    if (!opened)
        return std::unexpected(opened.error());
    const analysis::FileModel& file = opened->snapshot->model();
    const std::shared_ptr<const analysis::Nest> found = analysis::nestOf(file, *opened->kernel);
    return ToolAnswer{nestJson(*found, file, *opened->kernel),
                      analysis::nestText(*found, file, *opened->kernel)};
}

Result<ToolAnswer> memory(const ToolCall& call) {
    auto report = memoryReport(call.root, call.file);
    if (!report)
        return std::unexpected(report.error());
    std::string text = memoryText(*report);
    return ToolAnswer{std::move(*report), std::move(text)};
}

} // namespace

void addReadingTools(std::vector<Tool>& tools) {
    const json text = plainSchema("string");
    const json count = plainSchema("integer");
    tools.push_back(
        {.name = "check",
         .title = "Check a CUDA file",
         .description = "Compile errors, provable waste, and what holds each kernel back, with the "
                        "evidence. Parses the file; runs nothing.",
         .argumentSchema = argumentsSchema({{"file", fileSchema()}}, {"file"}),
         .resultSchema = resultSchema({{"file", text},
                                       {"diagnostics", listSchema(objectSchema())},
                                       {"kernels", listSchema(objectSchema())}}),
         .run = check});
    tools.push_back(
        {.name = "plan",
         .title = "Plan optimisations of a kernel",
         .description =
             "The skills that fit a kernel, ranked by its bottleneck, with why; what an expert "
             "would do by hand; and why the other skills do not fit. Runs nothing.",
         .argumentSchema = kernelArgumentsSchema(),
         .resultSchema = resultSchema({{"name", text},
                                       {"line", count},
                                       {"bottleneck", objectSchema()},
                                       {"skills", listSchema(objectSchema())},
                                       {"remedies", listSchema(objectSchema())},
                                       {"ruled_out", listSchema(objectSchema())}}),
         .run = plan});
    tools.push_back(
        {.name = "nest",
         .title = "Show a kernel as a loop nest",
         .description = "A kernel as loops, guards, phases between barriers, and what each "
                        "statement reads and writes by dimensions. Runs nothing.",
         .argumentSchema = kernelArgumentsSchema(),
         .resultSchema = resultSchema({{"kernel", text}, {"nodes", listSchema(objectSchema())}}),
         .run = nest});
    tools.push_back(
        {.name = "memory",
         .title = "Show what was tried on a file",
         .description =
             "The attempts on a file's kernels that apply_skill, optimize and the editor "
             "made, and how each ended. Runs nothing.",
         .argumentSchema = argumentsSchema({{"file", fileSchema()}}, {"file"}),
         .resultSchema = resultSchema({{"file", text}, {"entries", listSchema(objectSchema())}}),
         .run = memory});
}

} // namespace kernelskill::lsp
