#include "lsp-server/server/applied_notice.h"

#include "analysis/source/json.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

constexpr const char* undo = "Undo";

void takeBack(const ServerContext& context, AppliedEdit edit) {
    const std::string uri = edit.uri;
    context.documents.whenCurrent(uri, [&context, edit = std::move(edit)](auto snapshot) {
        if (!snapshot || (*snapshot)->source().text() != edit.after)
            return context.showMessage(ServerContext::MessageType::Warning,
                                       "The text has changed since the edit was applied, so it was "
                                       "not taken back. Use the editor's own undo.");
        context.connection.request(
            "workspace/applyEdit",
            {{"label", "Undo: " + edit.label},
             {"edit", workspaceEdit(edit.backward, **snapshot, context.capabilities)}},
            [](const auto&) {});
    });
}

} // namespace

std::optional<AppliedEdit> appliedTo(const Snapshot& snapshot, const analysis::EditSet& edits,
                                     const std::string& label) {
    if (edits.size() != 1 || (edits.begin()->first != snapshot.program.file &&
                              edits.begin()->first != snapshot.model().file))
        return std::nullopt;
    const analysis::SourceText& before = snapshot.source();
    std::vector<analysis::TextEdit> forward = edits.begin()->second;
    auto after = analysis::applyEdits(before.text(), forward);
    if (!after)
        return std::nullopt;
    std::ranges::stable_sort(forward, {},
                             [](const analysis::TextEdit& edit) { return edit.span.begin; });
    std::vector<analysis::TextEdit> backward;
    std::int64_t moved = 0; // The number of bytes that the earlier edits have added.
    for (const analysis::TextEdit& edit : forward) {
        const auto begin = static_cast<std::uint32_t>(edit.span.begin + moved);
        const auto size = static_cast<std::uint32_t>(edit.newText.size());
        backward.push_back({{begin, begin + size}, std::string(before.slice(edit.span))});
        moved += static_cast<std::int64_t>(edit.newText.size()) - edit.span.size();
    }
    return AppliedEdit{
        snapshot.uri, label, std::move(*after), {{edits.begin()->first, std::move(backward)}}};
}

void tellApplied(const ServerContext& context, const std::string& notice,
                 std::optional<AppliedEdit> edit) {
    if (!edit || !context.capabilities.noticeActions)
        return context.showMessage(ServerContext::MessageType::Info,
                                   notice + " One undo takes it back.");
    context.connection.request("window/showMessageRequest",
                               {{"type", static_cast<int>(ServerContext::MessageType::Info)},
                                {"message", notice},
                                {"actions", json::array({{{"title", undo}}})}},
                               [&context, edit = std::move(*edit)](const auto& answer) mutable {
                                   if (answer && answer->is_object() &&
                                       answer->value("title", "") == undo)
                                       takeBack(context, std::move(edit));
                               });
}

} // namespace kernelskill::lsp
