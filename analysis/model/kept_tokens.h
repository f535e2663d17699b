/// Keeps the tokens of a file beside its model.
#pragma once

#include "analysis/source/source_text.h"
#include "analysis/syntax/lexer.h"

#include <memory>
#include <mutex>
#include <vector>

namespace kernelskill::analysis {

/// The tokens of the main file, made when they are first asked for. A copy begins without them.
/// Thread-safe.
class KeptTokens {
public:
    KeptTokens() = default;
    KeptTokens(const KeptTokens& /*other*/) : KeptTokens() {}
    KeptTokens(KeptTokens&&) noexcept = default;
    KeptTokens& operator=(const KeptTokens& other) {
        if (this != &other)
            *this = KeptTokens();
        return *this;
    }
    KeptTokens& operator=(KeptTokens&&) noexcept = default;
    ~KeptTokens() = default;

    /// They refer to the text of `source`, which is to live as long.
    [[nodiscard]] std::shared_ptr<const std::vector<Token>>
    of(const std::shared_ptr<const SourceText>& source) const {
        const std::lock_guard lock(entry_->mutex);
        if (entry_->tokens == nullptr || entry_->source != source) {
            entry_->source = source;
            entry_->tokens = std::make_shared<const std::vector<Token>>(lex(source->text()));
        }
        return entry_->tokens;
    }

private:
    struct Entry {
        std::mutex mutex;
        std::shared_ptr<const SourceText> source;
        std::shared_ptr<const std::vector<Token>> tokens;
    };
    std::unique_ptr<Entry> entry_ = std::make_unique<Entry>();
};

} // namespace kernelskill::analysis
