#include "engine/inputs/program_text.h"

#include "analysis/scan/conditional_text.h"
#include "analysis/source/files.h"
#include "analysis/syntax/nesting.h"

#include <algorithm>
#include <iterator>

namespace kernelskill::engine {

using analysis::Declaration;
using analysis::DeclarationKind;
using analysis::Expression;
using analysis::ExpressionKind;
using analysis::Span;
using analysis::Token;

std::string parameterName(const std::vector<Token>& tokens, std::size_t begin, std::size_t end) {
    std::string name;
    for (auto i = begin; i < end && !tokens[i].is("="); ++i) {
        const bool isFunction = i + 3 < end && tokens[i].is("(") &&
                                (tokens[i + 1].is("*") || tokens[i + 1].is("&")) &&
                                tokens[i + 2].isIdentifier();
        if (isFunction)
            return std::string(tokens[i + 2].text);
        if (tokens[i].isIdentifier() && !tokens[i].is("typename") && !tokens[i].is("class"))
            name = tokens[i].text;
    }
    return name;
}

std::string baseName(const Expression& expression) {
    if (expression.kind == ExpressionKind::Name)
        return analysis::lastName(expression.text);
    if (expression.kind == ExpressionKind::Member && expression.text != "data")
        return expression.text;
    const bool call = expression.kind == ExpressionKind::Call;
    if (call && expression.children.size() == 2 && expression.text.ends_with("raw_pointer_cast"))
        return baseName(expression.children[1]);
    if (expression.children.empty() || (call && expression.children.size() != 1))
        return {};
    return baseName(expression.children[0]);
}

ProgramText::ProgramText(const analysis::FileModel& model) {
    std::vector<Token> leftOut;
    const auto addCompiled = [&](const std::string& path, std::string text) {
        const auto skipped = model.skipped.find(path);
        const auto tokens = addFile(path, std::move(text),
                                    skipped != model.skipped.end() ? std::span(skipped->second)
                                                                   : std::span<const Span>());
        leftOut.insert(leftOut.end(), tokens.begin(), tokens.end());
    };
    if (!model.includer.empty() && model.otherSources.contains(model.includer))
        addCompiled(model.includer, model.otherSources.find(model.includer)->second->text());
    if (model.source)
        addCompiled(model.file, model.source->text());
    for (const auto& path : model.userFiles) {
        if (path == model.file || (path == model.includer && !files_.empty()))
            continue;
        if (const auto open = model.unsavedHeaders.find(path); open != model.unsavedHeaders.end())
            addCompiled(path, open->second);
        else if (auto text = analysis::readFile(path))
            addCompiled(path, std::move(*text));
    }
    macros_.addDefinitionsOf(leftOut);
    for (auto& file : files_)
        file.declarations = scanDeclarations(file.tokens, macros_).declarations;
    for (std::size_t f = 0; f < files_.size(); ++f)
        addFunctions(f, files_[f].declarations);
    byPlace_.resize(files_.size());
    for (const auto& function : functions_) {
        byName_[function.name].push_back(&function);
        byPlace_[function.file].push_back(&function);
    }
    for (auto& functions : byPlace_)
        std::ranges::stable_sort(functions, {}, &FunctionText::bodyBegin);
    for (std::size_t f = 0; f < files_.size(); ++f)
        addIndices(f);
}

void ProgramText::addIndices(std::size_t f) {
    File& file = files_[f];
    for (const Declaration& declaration : file.declarations) {
        if (declaration.kind == DeclarationKind::Variable)
            for (const std::string& name : declaration.names)
                variables_.emplace(name, FileDeclaration{f, &declaration});
        addType(f, declaration);
    }
    for (std::size_t i = 0; i < file.tokens.size(); ++i) {
        const Token& token = file.tokens[i];
        if (!token.isIdentifier())
            continue;
        file.tokensByName[token.text].push_back(i);
        if (token.text.starts_with("cudaMalloc") && functionAt(f, i) != nullptr)
            addAllocation(f, i);
    }
}

void ProgramText::addType(std::size_t f, const Declaration& declaration) {
    const bool isAlias = declaration.kind == DeclarationKind::Alias;
    if (declaration.names.empty() || (!isAlias && declaration.members.empty()))
        return;
    const std::string& type = declaration.names.front();
    types_.emplace(isAlias ? declaration.names.back() : type, FileDeclaration{f, &declaration});
    for (const Declaration& member : declaration.members) {
        addType(f, member);
        if (member.kind == DeclarationKind::Variable && member.isInitialised &&
            (member.isConstexpr || member.isConst))
            for (const std::string& name : member.names)
                variables_.emplace(type + "::" + name, FileDeclaration{f, &member});
    }
}

void ProgramText::addAllocation(std::size_t f, std::size_t i) {
    const auto& tokens = files_[f].tokens;
    if (i + 1 >= tokens.size() || !tokens[i + 1].is("("))
        return;
    const auto arguments = listBetween(f, i + 1, matchingBracket(tokens, i + 1));
    if (arguments.size() < 2)
        return;
    const auto target = parseExpression(tokens, arguments[0].first, arguments[0].second);
    if (const auto pointer = target ? baseName(*target) : std::string{}; !pointer.empty())
        allocations_[pointer].push_back({f, i, arguments[1]});
}

const std::vector<std::size_t>& ProgramText::File::tokensNamed(std::string_view name) const {
    static const std::vector<std::size_t> none;
    const auto found = tokensByName.find(name);
    return found == tokensByName.end() ? none : found->second;
}

std::span<const std::size_t>
ProgramText::File::tokensNamed(std::string_view name, std::size_t begin, std::size_t end) const {
    const std::vector<std::size_t>& all = tokensNamed(name);
    const auto first = std::ranges::lower_bound(all, begin);
    return {first, std::max(first, std::ranges::lower_bound(all, end))};
}

std::vector<ProgramText::FileDeclaration>
ProgramText::variablesNamed(const std::string& name) const {
    std::vector<FileDeclaration> result;
    const auto [begin, end] = variables_.equal_range(name);
    for (auto at = begin; at != end; ++at)
        result.push_back(at->second);
    return result;
}

std::optional<ProgramText::FileDeclaration> ProgramText::typeNamed(const std::string& name) const {
    const auto found = types_.find(name);
    return found == types_.end() ? std::nullopt : std::optional(found->second);
}

const std::vector<AllocationText>& ProgramText::allocationsOf(const std::string& pointer) const {
    static const std::vector<AllocationText> none;
    const auto found = allocations_.find(pointer);
    return found == allocations_.end() ? none : found->second;
}

std::vector<Token> ProgramText::addFile(std::string path, std::string text,
                                        std::span<const Span> skipped) {
    auto& file = files_.emplace_back(File{std::move(path), std::move(text), {}, {}, {}, {}});
    auto tokens = analysis::lex(file.text);
    if (analysis::tooDeeplyNested(tokens))
        return {};
    const auto isSkipped = [&](const Token& token) {
        const auto behind = std::ranges::upper_bound(skipped, token.span.begin, {}, &Span::begin);
        return behind != skipped.begin() && std::prev(behind)->contains(token.span.begin);
    };
    // The directives of conditionals keep their order, so that branches stay apart.
    const auto left = std::ranges::stable_partition(tokens, [&](const Token& token) {
        return analysis::isConditional(token) || !isSkipped(token);
    });
    const std::vector<Token> leftOut(left.begin(), left.end());
    tokens.erase(left.begin(), left.end());
    macros_.addDefinitionsOf(tokens);
    std::ranges::copy_if(tokens, std::back_inserter(file.directives), [](const Token& token) {
        return token.kind == analysis::TokenKind::Directive;
    });
    file.tokens = structuralTokens(tokens);
    file.brackets = analysis::Brackets(file.tokens);
    return leftOut;
}

void ProgramText::addFunctions(std::size_t f, const std::vector<Declaration>& declarations) {
    const auto& tokens = files_[f].tokens;
    for (const auto& declaration : declarations) {
        addFunctions(f, declaration.members);
        addEnumerators(f, declaration);
        if (declaration.kind != DeclarationKind::Function || declaration.bodySpan.empty() ||
            declaration.names.empty())
            continue;
        FunctionText function{f,
                              declaration.names.front(),
                              tokenAt(f, declaration.bodySpan.begin),
                              tokenAt(f, declaration.bodySpan.end - 1),
                              tokenAt(f, declaration.parameterSpan.begin),
                              tokenAt(f, declaration.parameterSpan.end - 1),
                              {},
                              {},
                              {},
                              declaration.isKernel};
        for (const auto& [begin, end] :
             listBetween(f, function.parametersBegin, function.parametersEnd)) {
            auto nameEnd = end;
            for (auto i = begin; i < end; ++i) {
                if (tokens[i].is("=")) {
                    nameEnd = i;
                    break;
                }
            }
            function.defaults.emplace_back(nameEnd < end ? nameEnd + 1 : end, end);
            auto declaratorEnd = begin;
            while (declaratorEnd < nameEnd && !tokens[declaratorEnd].is("["))
                ++declaratorEnd;
            function.parameters.push_back(parameterName(tokens, begin, declaratorEnd));
        }
        if (declaration.isTemplate) {
            const auto open = tokenAt(f, declaration.span.begin) + 1;
            const auto close = open < tokens.size() ? matchingAngle(tokens, open) : open;
            for (const auto& [begin, end] : listBetween(f, open, close))
                function.templateParameters.push_back(parameterName(tokens, begin, end));
        }
        functions_.push_back(std::move(function));
    }
}

void ProgramText::addEnumerators(std::size_t f, const Declaration& declaration) {
    const auto& tokens = files_[f].tokens;
    const bool isEnum = declaration.kind == DeclarationKind::Enum;
    if (!isEnum && declaration.kind != DeclarationKind::Alias)
        return;
    auto open = tokenAt(f, declaration.span.begin);
    bool enumKey = isEnum;
    while (open < tokens.size() && tokens[open].span.begin < declaration.span.end &&
           !tokens[open].is("{"))
        enumKey = tokens[open++].is("enum") || enumKey;
    if (!enumKey || open >= tokens.size() || !tokens[open].is("{"))
        return;
    Enumerator last{f, 0, 0, -1};
    for (const auto& [begin, end] : listBetween(f, open, matchingBracket(tokens, open))) {
        if (begin == end)
            continue;
        ++last.plus;
        if (begin + 2 < end && tokens[begin + 1].is("="))
            last = {f, begin + 2, end, 0};
        enumerators_.emplace(tokens[begin].text, last);
    }
}

const std::vector<const FunctionText*>& ProgramText::functionsNamed(std::string_view name) const {
    static const std::vector<const FunctionText*> none;
    const auto found = byName_.find(name);
    return found == byName_.end() ? none : found->second;
}

const ProgramText::Enumerator* ProgramText::enumerator(const std::string& name) const {
    const auto found = enumerators_.find(name);
    return found == enumerators_.end() ? nullptr : &found->second;
}

std::optional<std::size_t> ProgramText::fileIndex(std::string_view path) const {
    const auto found = std::ranges::find(files_, path, &File::path);
    return found == files_.end() ? std::nullopt
                                 : std::optional(static_cast<std::size_t>(found - files_.begin()));
}

std::size_t ProgramText::tokenAt(std::size_t file, std::uint32_t offset) const {
    const auto& tokens = files_[file].tokens;
    const auto found = std::ranges::lower_bound(
        tokens, offset, {}, [](const Token& token) { return token.span.begin; });
    return static_cast<std::size_t>(found - tokens.begin());
}

const FunctionText* ProgramText::functionAt(std::size_t file, std::size_t token) const {
    const auto& functions = byPlace_[file];
    const auto behind = std::ranges::upper_bound(functions, token, {}, &FunctionText::bodyBegin);
    if (behind == functions.begin() || token > (*std::prev(behind))->bodyEnd)
        return nullptr;
    return *std::prev(behind);
}

TextPlace ProgramText::placeAt(std::size_t file, std::uint32_t offset) const {
    const auto token = tokenAt(file, offset);
    return {file, token, functionAt(file, token)};
}

std::vector<TextPlace> ProgramText::callsOf(const std::string& name) const {
    std::vector<TextPlace> result;
    for (std::size_t f = 0; f < files_.size(); ++f) {
        const auto& tokens = files_[f].tokens;
        for (const std::size_t i : files_[f].tokensNamed(name)) {
            if (i + 1 >= tokens.size())
                continue;
            auto open = i + 1;
            if (tokens[open].is("<"))
                open = matchingAngle(tokens, open) + 1;
            const auto* inside = functionAt(f, i);
            if (open < tokens.size() && tokens[open].is("(") && inside != nullptr)
                result.push_back({f, i, inside});
        }
    }
    return result;
}

std::vector<std::pair<std::size_t, std::size_t>>
ProgramText::argumentsAt(const TextPlace& place) const {
    const auto& tokens = files_[place.file].tokens;
    auto open = place.token + 1;
    if (open < tokens.size() && tokens[open].is("<"))
        open = matchingAngle(tokens, open) + 1;
    if (open >= tokens.size() || !tokens[open].is("("))
        return {};
    return listBetween(place.file, open, matchingBracket(tokens, open));
}

std::vector<std::pair<std::size_t, std::size_t>>
ProgramText::listBetween(std::size_t file, std::size_t open, std::size_t close) const {
    const auto& tokens = files_[file].tokens;
    std::vector<std::pair<std::size_t, std::size_t>> result;
    close = std::min(close, tokens.size());
    if (open + 1 >= close)
        return result;
    auto start = open + 1;
    for (auto i = start; i <= close; ++i) {
        if (i < close && (tokens[i].is("(") || tokens[i].is("[") || tokens[i].is("{"))) {
            i = std::min(matchingBracket(tokens, i), close - 1);
        } else if (i < close && tokens[i].is("<") && i > start && tokens[i - 1].isIdentifier()) {
            const auto angle = matchingAngle(tokens, i);
            if (angle != i && angle < close && angle + 1 <= close &&
                (angle + 1 == close || tokens[angle + 1].is("(") || tokens[angle + 1].is("::") ||
                 tokens[angle + 1].isIdentifier() || tokens[angle + 1].is("*") ||
                 tokens[angle + 1].is("{")))
                i = angle;
        } else if (i == close || tokens[i].is(",")) {
            result.emplace_back(start, i);
            start = i + 1;
        }
    }
    return result;
}

std::string ProgramText::textOf(std::size_t file, std::size_t begin, std::size_t end) const {
    const auto& tokens = files_[file].tokens;
    if (begin >= end || end > tokens.size())
        return {};
    const auto from = tokens[begin].span.begin;
    return files_[file].text.substr(from, tokens[end - 1].span.end - from);
}

} // namespace kernelskill::engine
