# Makes of the pages of swift-argument-parser what groff, man-db and whatis expect: no empty lines,
# and in the section NAME a name without spaces, which is that of the file.
s/^$/.Pp/
/^\.Sh NAME/,/^\.Sh SYNOPSIS/{
    s/^\.Nd "\(.*\)"$/.Nd \1/
    /^\.Nm /{
        s/"//g
        h
        s/^\.Nm //
        y/ /./
        s/^/.Nm /
    }
}
/^\.Nm$/g
