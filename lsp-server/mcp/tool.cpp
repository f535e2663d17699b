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

Result<const analysis::KernelModel*> ToolCall::kernelOf(const Snapshot& snapshot) const {
    std::optional<std::uint32_t> line;
    if (const int given = number("line", 0); given > 0)
        line = static_cast<std::uint32_t>(given - 1);
    return chooseKernel(snapshot, text("kernel"), line);
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

json kernelSchema(const std::string& byDefault) {
    return textSchema("Name of the kernel, qualified or plain; " + byDefault);
}

} // namespace kernelskill::lsp
