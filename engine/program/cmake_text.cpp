#include "engine/program/cmake_text.h"

#include <algorithm>
#include <cctype>
#include <optional>

namespace kernelskill::engine {
namespace {

bool isBlank(char c) {
    return std::isspace(static_cast<unsigned char>(c)) != 0;
}

bool isNameCharacter(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

class CommandReader {
public:
    explicit CommandReader(std::string_view text) : text_(text) {}

    std::vector<CmakeCommand> commands() {
        std::vector<CmakeCommand> found;
        while (skipSpace(), at_ < text_.size()) {
            const auto begin = at_;
            while (at_ < text_.size() && isNameCharacter(text_[at_]))
                ++at_;
            CmakeCommand command{std::string(text_.substr(begin, at_ - begin)), {}, lineOf(begin)};
            std::ranges::transform(command.name, command.name.begin(), [](unsigned char c) {
                return static_cast<char>(std::tolower(c));
            });
            while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t'))
                ++at_;
            if (command.name.empty() || at_ == text_.size() || text_[at_] != '(') {
                at_ = std::max(at_, begin + 1); // No command.
                continue;
            }
            ++at_;
            readArguments(command.arguments);
            found.push_back(std::move(command));
        }
        return found;
    }

private:
    /// Commands come in the order of the text, so the lines are counted once.
    std::uint32_t lineOf(std::size_t place) {
        line_ += static_cast<std::uint32_t>(
            std::ranges::count(text_.substr(counted_, place - counted_), '\n'));
        counted_ = place;
        return line_;
    }

    /// The number of `=` if `[==[` begins at the place.
    [[nodiscard]] std::optional<std::size_t> bracketAt(std::size_t place) const {
        if (place >= text_.size() || text_[place] != '[')
            return std::nullopt;
        const auto end = text_.find_first_not_of('=', place + 1);
        return end != std::string_view::npos && text_[end] == '[' ? std::optional(end - place - 1)
                                                                  : std::nullopt;
    }

    /// Reads `[==[...]==]`, of `equals` signs, at the current place.
    std::string_view bracketText(std::size_t equals) {
        const std::string close = "]" + std::string(equals, '=') + "]";
        const auto begin = std::min(at_ + equals + 2, text_.size());
        const auto end = text_.find(close, begin);
        at_ = end == std::string_view::npos ? text_.size() : end + close.size();
        return text_.substr(begin, end == std::string_view::npos ? end : end - begin);
    }

    void skipComment() {
        if (const auto equals = bracketAt(at_ + 1)) {
            ++at_;
            bracketText(*equals);
        } else {
            at_ = std::min(text_.find('\n', at_), text_.size());
        }
    }

    void skipSpace() {
        while (at_ < text_.size() && (isBlank(text_[at_]) || text_[at_] == '#'))
            if (text_[at_] == '#')
                skipComment();
            else
                ++at_;
    }

    void readArguments(std::vector<std::string>& arguments) {
        for (int depth = 1; skipSpace(), at_ < text_.size();) {
            const char c = text_[at_];
            if (c == '(' || c == ')') {
                depth += c == '(' ? 1 : -1;
                ++at_;
                if (depth == 0)
                    return;
            } else if (c == '"') {
                arguments.push_back(quoted());
            } else if (const auto equals = bracketAt(at_)) {
                arguments.emplace_back(bracketText(*equals));
            } else {
                unquoted(arguments);
            }
        }
    }

    std::string quoted() {
        std::string text;
        for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
            if (text_[at_] == '\\' && at_ + 1 < text_.size())
                ++at_;
            text += text_[at_];
        }
        at_ = std::min(at_ + 1, text_.size());
        return text;
    }

    /// One word, or several with `;` between them outside of `$<...>`.
    void unquoted(std::vector<std::string>& arguments) {
        std::string word;
        int depth = 0;
        for (; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (isBlank(c) || c == '(' || c == ')' || c == '#' || c == '"')
                break;
            depth += c == '<' ? 1 : c == '>' && depth > 0 ? -1 : 0;
            if (c == ';' && depth == 0) {
                if (!word.empty())
                    arguments.push_back(std::move(word));
                word.clear();
            } else {
                if (c == '\\' && at_ + 1 < text_.size())
                    ++at_;
                word += text_[at_];
            }
        }
        if (!word.empty())
            arguments.push_back(std::move(word));
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t counted_ = 0; ///< Line ends before it are counted.
    std::uint32_t line_ = 1;
};

} // namespace

std::vector<CmakeCommand> readCmakeCommands(std::string_view text) {
    return CommandReader(text).commands();
}

} // namespace kernelskill::engine
