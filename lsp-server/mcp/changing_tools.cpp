// Tools that run kernels, remember what they tried, and write an edit where they are asked to.
#include "lsp-server/commands/file_writer.h"
#include "lsp-server/features/offered_skill.h"
#include "lsp-server/mcp/answer_text.h"
#include "lsp-server/mcp/schema.h"
#include "lsp-server/mcp/tool.h"
#include "lsp-server/report/json_report.h"
#include "lsp-server/report/optimization_json.h"

#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <cstddef>
#include <utility>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

/// Clients give a tool a minute unless they are told otherwise.
constexpr int defaultSeconds = 45;

/// Writes the edits where the call asks for it, and tells so in the answer.
Result<void> finish(const ToolCall& call, bool isWorthIt, const analysis::EditSet& edits,
                    TextLookup& texts, ToolAnswer& answer) {
    const bool writes = call.flag("write") && isWorthIt;
    if (writes) {
        if (const auto written = writeEdits(edits, texts); !written)
            return written;
        answer.text += "written to the file\n";
    }
    answer.structured["written"] = writes;
    return {};
}

Result<ToolAnswer> applySkill(const ToolCall& call) {
    const auto opened = call.openKernel();
    if (!opened)
        return std::unexpected(opened.error());
    const Snapshot& snapshot = *opened->snapshot;
    const std::string skill = call.text("skill");
    const auto offers = offersOf(snapshot, *opened->kernel, call.line(), skill);
    if (!offers)
        return std::unexpected(offers.error());
    const auto option = static_cast<std::size_t>(call.number("option", 1));
    if (option > offers->size())
        return std::unexpected(Error{ErrorKind::InvalidInput,
                                     fmt::format("'{}' has {} option{} here", skill, offers->size(),
                                                 offers->size() == 1 ? "" : "s"),
                                     "", ""});
    const auto edit = call.workbench->advisor().apply(opened->ref(), (*offers)[option - 1],
                                                      snapshot.memory(), call.stop, call.progress);
    if (!edit)
        return std::unexpected(edit.error());
    TextLookup texts(snapshot.program);
    ToolAnswer answer{{{"skill", edit->skill},
                       {"kernel", opened->kernel->qualifiedName},
                       {"acceptable", edit->acceptable()},
                       {"verdict", verdictJson(edit->verdict)},
                       {"diff", edit->diff}},
                      edit->diff + verdictText(edit->verdict)};
    if (const auto done = finish(call, edit->acceptable(), edit->edits, texts, answer); !done)
        return std::unexpected(done.error());
    return answer;
}

Result<ToolAnswer> optimize(const ToolCall& call) {
    const auto opened = call.openKernel();
    if (!opened)
        return std::unexpected(opened.error());
    engine::OptimizationOptions options;
    options.rounds = call.number("rounds", options.rounds);
    options.time = std::chrono::seconds(call.number("seconds", defaultSeconds));
    options.measure = call.workbench->machines().gpu(call.stop, call.progress).has_value();
    const auto found = call.workbench->advisor().optimize(
        opened->ref(), options, opened->snapshot->memory(), call.stop, call.progress);
    if (!found)
        return std::unexpected(found.error());
    TextLookup texts(opened->snapshot->program);
    ToolAnswer answer{
        optimizationJson(*found, opened->snapshot->program.file, texts, PositionEncoding::Utf16),
        optimizationText(*found)};
    const bool isDone = found->isImproved() && !call.stop.stop_requested();
    if (const auto done = finish(call, isDone, found->edits, texts, answer); !done)
        return std::unexpected(done.error());
    return answer;
}

} // namespace

void addChangingTools(std::vector<Tool>& tools) {
    const json text = plainSchema("string");
    const json flag = plainSchema("boolean");
    tools.push_back(
        {.name = "apply_skill",
         .title = "Apply a skill",
         .description =
             "Makes the edit of a skill that `plan` lists, and judges it as try_edit does. The "
             "answer is a diff; the file is written only if `write` is true and the edit is "
             "right. The attempt is noted in the workspace's .kernelskill/.",
         .argumentSchema = kernelArgumentsSchema(
             {{"skill", textSchema("The skill's id")},
              {"line", numberSchema("Where to apply it, counted from 1", 1, 10'000'000)},
              {"option", numberSchema("Which of the skill's options (1)", 1, 1000)},
              {"write", flagSchema("Write the edit to the file if it is right")}},
             {"file", "skill"}),
         .resultSchema = resultSchema({{"skill", text},
                                       {"kernel", text},
                                       {"acceptable", flag},
                                       {"verdict", objectSchema()},
                                       {"diff", text},
                                       {"written", flag}}),
         .runsCode = true,
         .mayWrite = true,
         .run = applySkill});
    tools.push_back(
        {.name = "optimize",
         .title = "Optimise a kernel",
         .description =
             "Tries skills round after round and keeps what is right and faster: measured on a "
             "GPU, "
             "by a cost model without one. The answer is a diff with all attempts; the file is "
             "written only if `write` is true and something better was found. Attempts are noted "
             "in the workspace's .kernelskill/, and a later call goes on from there.",
         .argumentSchema = kernelArgumentsSchema(
             {{"rounds", numberSchema("Max number of rounds (8)", 1, 1000)},
              {"seconds", numberSchema(fmt::format("Time limit ({})", defaultSeconds), 1, 86'400)},
              {"write", flagSchema("Write the best version to the file")}}),
         .resultSchema = resultSchema({{"kernel", text},
                                       {"rounds", listSchema(objectSchema())},
                                       {"best", objectSchema()},
                                       {"diff", text},
                                       {"written", flag}}),
         .runsCode = true,
         .mayWrite = true,
         .run = optimize});
}

} // namespace kernelskill::lsp
