// A variadic function says nothing of what it does with what it is given. A format that
// stands in the call does: each of its conversions reads an argument, and none keeps it.
// Counted as one is a text with exactly as many conversions of the C library as there are
// arguments: other languages of the kind ("{s:o}" takes what it is given, "%z" frees it)
// have other letters or another number.
#include "check/lower/format.h"

#include <optional>
#include <string_view>

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>

namespace plumb::check {

namespace {

// How many arguments the format names; nothing when it has a conversion of another kind.
std::optional<unsigned> conversions(std::string_view text) {
  constexpr std::string_view kFlags = "-+ #0'123456789.";
  constexpr std::string_view kLengths = "hlLqjzt";
  constexpr std::string_view kKinds = "diouxXeEfFgGaAcspm";
  unsigned count = 0;
  for (std::size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at)) {
    ++at;
    while (at < text.size() && (kFlags.contains(text[at]) || text[at] == '*')) {
      if (text[at] == '*') ++count;
      ++at;
    }
    while (at < text.size() && kLengths.contains(text[at])) ++at;
    if (at == text.size()) return std::nullopt;
    const char kind = text[at++];
    if (kind == '%' || kind == 'm') continue;
    if (!kKinds.contains(kind)) return std::nullopt;
    ++count;
  }
  return count;
}

// The text of a literal, or of one that is to be translated.
std::optional<std::string_view> text_of(const llvm::Value* value) {
  llvm::StringRef text;
  if (llvm::getConstantStringInfo(value, text)) return std::string_view(text.data(), text.size());
  const auto* call = llvm::dyn_cast<llvm::CallBase>(value);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  if (!callee || !callee->getName().ends_with("gettext")) return std::nullopt;
  for (const llvm::Use& each : call->args()) {
    if (!llvm::getConstantStringInfo(each.get(), text)) continue;
    if (text.contains('%')) return std::string_view(text.data(), text.size());
  }
  return std::nullopt;
}

}  // namespace

std::uint16_t formatted_from(const llvm::CallBase& call) {
  const llvm::FunctionType& type = *call.getFunctionType();
  const unsigned named = type.getNumParams();
  if (!type.isVarArg() || named == 0 || call.arg_size() <= named || named > UINT16_MAX) return 0;
  const llvm::Value* format = call.getArgOperand(named - 1);
  const auto fits = [&](const llvm::Value* value) {
    const std::optional<std::string_view> text = text_of(value);
    return text && conversions(*text) == call.arg_size() - named;
  };
  const auto* either = llvm::dyn_cast<llvm::SelectInst>(format);
  const bool reads =
      either ? fits(either->getTrueValue()) && fits(either->getFalseValue()) : fits(format);
  return reads ? static_cast<std::uint16_t>(named) : 0;
}

}  // namespace plumb::check
