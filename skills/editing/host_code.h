/// Text for a host function in its own style: calls of the runtime, and lines beside its
/// statements.
#pragma once

#include "analysis/queries/source_layout.h"
#include "skills/base/skill.h"

#include <string>

namespace kernelskill::skills {

/// Keeps references to the file of the context.
class HostCode {
public:
    /// `function` is an index into FileModel::hostFunctions.
    HostCode(const SkillContext& context, std::uint32_t function);

    [[nodiscard]] const analysis::SourceText& source() const { return source_; }
    [[nodiscard]] const analysis::FunctionBody& body() const { return body_; }
    [[nodiscard]] const analysis::SourceLayout& layout() const { return layout_; }

    /// As the function has it.
    [[nodiscard]] std::string textOf(analysis::ExprId expr) const;
    /// The stream as the function names it; "0" for noId.
    [[nodiscard]] std::string stream(analysis::ExprId expr) const;
    /// A name that the function does not use: `wanted`, or that with a number.
    [[nodiscard]] std::string name(const std::string& wanted) const;
    /// A call of the runtime as a statement: in the macro or function that the others of this
    /// function are in, e.g. CHECK(...), or alone where they stand alone.
    [[nodiscard]] std::string call(const std::string& text) const;

    [[nodiscard]] std::string indentation(analysis::Span span) const;
    /// `lines`, each with its line end, before the line that the span begins on.
    [[nodiscard]] analysis::TextEdit before(analysis::Span span, std::string lines) const;
    /// The same after the line that it ends on.
    [[nodiscard]] analysis::TextEdit after(analysis::Span span, std::string lines) const;

private:
    const analysis::SourceText& source_;
    const analysis::FunctionBody& body_;
    analysis::SourceLayout layout_;
    std::string check_; ///< Empty: none.
};

/// The launch in another stream.
[[nodiscard]] analysis::TextEdit inStream(const analysis::FunctionBody& host,
                                          const analysis::LaunchSite& launch,
                                          const std::string& stream);

} // namespace kernelskill::skills
