#include "lsp-server/server/head_texts.h"

#include "analysis/source/json.h"
#include "analysis/syntax/lexer.h"
#include "lsp-server/workspace/revision.h"

#include <spdlog/logger.h>

#include <system_error>
#include <utility>

namespace kernelskill::lsp {

std::shared_ptr<const std::string> HeadTexts::tokensOf(const std::string& uri) {
    if (!context_.isTrusted(uri))
        return nullptr;
    const std::filesystem::path file = pathOf(uri);
    const auto [entry, isNew] = documents_.try_emplace(uri);
    Document& document = entry->second;
    if (isNew)
        document.log = headLog(file);
    if (document.log.empty())
        return nullptr;
    std::error_code missing; // A repository without a commit has no log.
    const auto time = std::filesystem::last_write_time(document.log, missing);
    if (!missing && document.asked != time) {
        document.asked = time;
        ask(uri, file);
    }
    return document.tokens;
}

void HeadTexts::ask(const std::string& uri, const std::filesystem::path& file) {
    context_.jobs.post([this, uri, file] {
        const auto found = textsInRevision(file, {}, "HEAD", {});
        if (!found)
            context_.log.debug("no text in HEAD: {}", found.error().describe());
        auto tokens =
            found ? std::make_shared<const std::string>(analysis::tokenText(found->texts.at(file)))
                  : nullptr;
        context_.loop.post([this, uri, tokens = std::move(tokens)]() mutable {
            const auto document = documents_.find(uri);
            if (document == documents_.end())
                return;
            document->second.tokens = std::move(tokens);
            if (context_.capabilities.codeLensRefresh)
                context_.connection.request("workspace/codeLens/refresh", nlohmann::json::object(),
                                            [](const auto&) {});
        });
    });
}

} // namespace kernelskill::lsp
