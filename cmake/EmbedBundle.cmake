# Turns the page's bundle (page.js, page.css and their hashes, page.csp) into one
# C++ source. Run as a script:
#
#   cmake -DBUNDLE=DIR -DOUTPUT=page_bundle.cc -DTEMPLATE=page_bundle.cc.in -P EmbedBundle.cmake
#
# DIR/missing instead of the three files means that there is no bundle: the
# source is then empty and the command refuses --format=html, saying why.
# The text is cut into raw string literals that every compiler takes. It is
# ASCII (esbuild sees to it), so that no cut can divide a character.

set(delimiter plumb_page)
set(piece_length 60000)

# pieces(<file> <name>): a constant <name> and what makes a span of it.
function(pieces file name array span)
  file(READ ${file} text)
  string(FIND "${text}" ")${delimiter}\"" found)
  if(NOT found EQUAL -1)
    message(FATAL_ERROR "${file} contains )${delimiter}\"")
  endif()
  string(LENGTH "${text}" length)
  set(out "constexpr std::string_view ${name}[] = {\n")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} ${piece_length} piece)
    string(APPEND out "    R\"${delimiter}(${piece})${delimiter}\",\n")
    math(EXPR at "${at} + ${piece_length}")
  endwhile()
  string(APPEND out "};")
  set(${array} "${out}" PARENT_SCOPE)
  set(${span} "Pieces(${name})" PARENT_SCOPE)
endfunction()

if(EXISTS ${BUNDLE}/missing)
  set(SCRIPT_SPAN "Pieces()")
  set(STYLE_SPAN "Pieces()")
else()
  pieces(${BUNDLE}/page.js kScript SCRIPT SCRIPT_SPAN)
  pieces(${BUNDLE}/page.css kStyle STYLE STYLE_SPAN)
  file(STRINGS ${BUNDLE}/page.csp hashes)
  list(GET hashes 0 SCRIPT_HASH)
  list(GET hashes 1 STYLE_HASH)
endif()
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
