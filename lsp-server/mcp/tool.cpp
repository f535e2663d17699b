#include "lsp-server/mcp/tool.h"

#include "lsp-server/commands/input_file.h"
#include "lsp-server/documents/closed_document.h"
#include "lsp-server/mcp/schema.h"

#include <optional>
#include <utility>

namespace kernelskill::lsp {

using nlohmann::json;

Result<SnapshotPtr> ToolCall::open() const {
    auto read = readDocument(file, root, workbench, *commands);
    if (!read || isTrusted)
        return read;
    auto distrusted = std::make_shared<Snapshot>(**read);
    distrusted->program.isTrusted = false;
    return distrusted;
}

Result<OpenedKernel> ToolCall::openKernel() const {
    auto snapshot = open();
    if (!snapshot)
        return std::unexpected(snapshot.error());
    const auto kernel = chooseKernel(**snapshot, text("kernel"), line());
    if (!kernel)
        return std::unexpected(kernel.error());
    return OpenedKernel{*std::move(snapshot), *kernel};
}

std::optional<std::uint32_t> ToolCall::line() const {
    const int given = number("line", 0);
    return given > 0 ? std::optional(static_cast<std::uint32_t>(given - 1)) : std::nullopt;
}

std::vector<Tool> allTools() {
    std::vector<Tool> tools;
    addReadingTools(tools);
    addRunningTools(tools);
    addChangingTools(tools);
    return tools;
}

json listed(const Tool& tool) {
    return {{"name", tool.name},
            {"title", tool.title},
            {"description", tool.description},
            {"inputSchema", tool.argumentSchema},
            {"outputSchema", tool.resultSchema},
            {"annotations",
             {{"title", tool.title},
              {"readOnlyHint", !tool.mayWrite},
              {"destructiveHint", tool.mayWrite},
              {"idempotentHint", !tool.mayWrite},
              {"openWorldHint", false}}}};
}

json fileSchema() {
    return textSchema("Path of the CUDA file: absolute, or from the server's working directory");
}

json kernelArgumentsSchema(const json& others, std::vector<std::string> required) {
    json properties{
        {"file", fileSchema()},
        {"kernel", textSchema("Name of the kernel, qualified or plain; the first one without it")},
        {"line", numberSchema("A line in the kernel, counted from 1", 1, 10'000'000)}};
    properties.update(others);
    return argumentsSchema(std::move(properties), std::move(required));
}

} // namespace kernelskill::lsp
