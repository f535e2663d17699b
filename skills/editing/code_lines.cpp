#include "skills/editing/code_lines.h"

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

CodeLines& CodeLines::add(std::string_view line) {
    if (!line.empty()) {
        text_ += indentation_;
        text_ += line;
    }
    text_ += layout_.newline();
    return *this;
}

CodeLines& CodeLines::addBlock(std::string_view text, std::string_view from) {
    bool isFirst = true;
    while (!text.empty()) {
        const auto end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        if (!isFirst && line.starts_with(from))
            line.remove_prefix(from.size());
        add(line);
        isFirst = false;
    }
    return *this;
}

CodeLines& CodeLines::open(std::string_view line) {
    add(line);
    indentation_ += layout_.unit();
    return *this;
}

CodeLines& CodeLines::leave() {
    indentation_.resize(indentation_.size() - std::min(indentation_.size(), layout_.unit().size()));
    return *this;
}

CodeLines& CodeLines::close(std::string_view line) {
    leave();
    add(line);
    if (line.ends_with('{'))
        indentation_ += layout_.unit();
    return *this;
}

std::string rewritten(const SourceText& source, Span span, std::vector<TextEdit> parts) {
    std::ranges::stable_sort(parts, {}, [](const TextEdit& edit) { return edit.span; });
    std::string result;
    std::uint32_t done = span.begin;
    for (const TextEdit& part : parts) {
        result += source.slice({done, std::max(done, part.span.begin)});
        result += part.newText;
        done = std::max(done, part.span.end);
    }
    result += source.slice({done, std::max(done, span.end)});
    return result;
}

} // namespace kernelskill::skills
