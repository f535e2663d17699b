/// The texts of open documents in git's HEAD, so that a lens can tell which kernels differ.
#pragma once

#include "lsp-server/server/server_context.h"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace kernelskill::lsp {

/// git runs only in trusted folders, in the background, and once for each commit that is checked
/// out: a request meanwhile looks at the time of one file. Belongs to the loop's thread.
class HeadTexts {
public:
    /// `context` outlives it, and so do tasks of the pool for jobs.
    explicit HeadTexts(const ServerContext& context) : context_(context) {}

    /// The document's text in HEAD, without comments and white space (analysis::tokenText). Null if
    /// it is not known yet, which a refresh of lenses follows; or if HEAD does not have the file.
    [[nodiscard]] std::shared_ptr<const std::string> tokensOf(const std::string& uri);
    void closed(const std::string& uri) { documents_.erase(uri); }

private:
    using Stamp = std::optional<std::filesystem::file_time_type>;
    struct Document {
        std::filesystem::path log; ///< See headLog(); empty if the document is in no repository.
        Stamp asked;               ///< The log's time when git was asked last.
        std::shared_ptr<const std::string> tokens;
    };

    void ask(const std::string& uri, const std::filesystem::path& file);

    const ServerContext& context_;
    std::map<std::string, Document> documents_;
};

} // namespace kernelskill::lsp
