/**
 * Removes the code of Preact that the frame never uses, a thirtieth of the frame: class components,
 * contexts, portals, suspense, hydration, error boundaries and MathML. The version of Preact is
 * pinned. If another version lacks one of the texts below, the build stops and names the text.
 */

import type { Plugin } from 'vite';

/** Texts of Preact's module, and what replaces each. */
const CUTS: readonly (readonly [string, string])[] = [
  // Portals
  ['"function"!=typeof n.type||n.props.__P?null:', '"function"!=typeof n.type?null:'],
  ['&&n.__c&&!n.props.__P)', '&&n.__c)'],
  ['if(n.props.__P)return t;', ''],
  [
    'M.__P&&(s=l,f=(t=M.__P).namespaceURI,c=o=null,u.props&&u.props.__P!=t&&' +
      '(u.__k.some(function(n){n&&J(n,n)}),u.__k=null),l=u.__k?S(u,0):null),',
    '',
  ],
  ['M.__P&&(r.__e=null,l=s),', ''],
  ['||u&&!t.props.__P)', '||u)'],
  // Hydration and suspense
  [
    '128&u.__u&&(c=32&u.__u,s=u.__c.__z)&&(r.__u|=c,p=o=[],' +
      '8==s.nodeType?l=B(s,o):o.push(s),l=o[0]||l),',
    '',
  ],
  ['!u&&(i=t.__c)&&(i=i.__z)&&(f=B(i,o=[]))&&(i==t.__e&&o.some(g),g(f),g(i)),', ''],
  ['&&8==t.nodeType&&!t.data.startsWith("$s");', '&&8==t.nodeType;'],
  [
    'if(e.length=v,r.__v=null,c||o)if(t&&t.then){if(r.__u|=128|c,o){for(' +
      '~(T=o.indexOf(l||void 0))||(T=o.length);(N=o[T-1])&&8==N.nodeType;)T--;' +
      'for(;T<o.length;T++)if(N=o[T])if(o[T]=null,O){if(N==P)break}else{' +
      'if(8!=N.nodeType)break;N.data.startsWith("$s")&&(P=B(O=N))}}if(!O){' +
      'for(;l&&8==l.nodeType&&l.nextSibling;)l=l.nextSibling;O=l}' +
      '(s=B(O=r.__c.__z||(r.__c.__z=O)))?(r.__e=O,l=s):r.__e=l,l=l&&l.nextSibling}' +
      'else o&&o.some(g);else r.__e=u.__e;r.__k||(r.__k=u.__k||[]),t&&t.then||D(r),',
    'e.length=v,r.__v=null,r.__e=u.__e,r.__k||(r.__k=u.__k||[]),D(r),',
  ],
  // Class components and contexts
  ['C=(s=V.prototype)&&s.render,j=(s=V.contextType)&&i[s.__c],L=s?j?j.props.value:s.__:i,', ''],
  [
    '(C?r.__c=d=new V(M,L):(r.__c=d=new x(M,L),d.constructor=V,d.render=K),j&&j.sub(d),' +
      'd.state||(d.state={}),',
    '(r.__c=d=new x(M,i),d.constructor=V,d.render=K,d.state={},',
  ],
  [
    'C&&(d.__s||(d.__s=d.state),V.getDerivedStateFromProps&&(d.__s==d.state&&' +
      '(d.__s=_({},d.__s)),_(d.__s,V.getDerivedStateFromProps(M,d.__s)))),',
    '',
  ],
  [
    'M!==k&&C&&!V.getDerivedStateFromProps&&d.componentWillReceiveProps&&' +
      'd.componentWillReceiveProps(M,L),',
    '',
  ],
  ['d.shouldComponentUpdate(M,d.__s,L)', 'd.shouldComponentUpdate(M,d.__s,i)'],
  [
    'd.componentWillUpdate&&d.componentWillUpdate(M,d.__s,L),C&&d.componentDidUpdate&&' +
      'd.__h.push(function(){d.componentDidUpdate(k,b,m)})}else ' +
      'C&&!V.getDerivedStateFromProps&&d.componentWillMount&&d.componentWillMount(),' +
      'C&&d.componentDidMount&&d.__h.push(d.componentDidMount);d.context=L,',
    '}d.context=i,',
  ],
  ['q=C?25:0;', 'q=0;'],
  ['C&&(y.push.apply(d.__h,d.__k),d.__k=[]),d.state', 'd.state'],
  [
    'd.getChildContext&&(i=_({},i,d.getChildContext())),C&&u.__c&&' +
      'd.getSnapshotBeforeUpdate&&(m=d.getSnapshotBeforeUpdate(k,b)),',
    '',
  ],
  ['if(i.componentWillUnmount)try{i.componentWillUnmount()}catch(t){n.__e(t,r)}', ''],
  // MathML, and elements that the frame does not have
  ['"math"==C?f="http://www.w3.org/1998/Math/MathML":', ''],
  [
    '("foreignObject"==C||"http://www.w3.org/1998/Math/MathML"==f&&v.test(C))&&' +
      '(f="http://www.w3.org/1999/xhtml"),',
    '',
  ],
  // Errors end the page: no component catches them
  [
    'function(n,t,r,u){for(var i,o,e;t=t.__;)if((i=t.__c)&&!(1&i.__g)){i.__g|=4;try{' +
      'if((e=(o=i.constructor)&&o.getDerivedStateFromError)&&' +
      'i.setState(o.getDerivedStateFromError(n)),i.componentDidCatch&&' +
      '(i.componentDidCatch(n,u||{}),e=1),e&&8&i.__g)return void(i.__g|=2)}catch(t){n=t}}' +
      'throw f=0,n}',
    'function(n){throw f=0,n}',
  ],
  // Children that the document has before the first drawing
  [
    ',o)for(s=0;s<o.length;s++)if((k=o[s])&&(C?k.localName==C:3==k.nodeType)){' +
      't=k,o[s]=null;break}if(!t){',
    ',!t){',
  ],
  [
    ',l&&(n.__m&&n.__m(r,o),l=!1),o=null}if(C){if(a="template"==C&&t.content||t,' +
      'o="textarea"==C&&null!=x.defaultValue?null:o&&d.call(a.childNodes),!l&&o)' +
      'for($={},s=0;s<t.attributes.length;s++)$[(k=t.attributes[s]).name]=k.value;' +
      'for(s in $)',
    '}if(C){a=t;for(s in $)',
  ],
  ['o?o[0]:u.__k&&S(u,0),l,c),o&&o.some(g)),', 'u.__k&&S(u,0),l,c)),'],
];

/** The same for the module with the hooks. */
const HOOK_CUTS: readonly (readonly [string, string])[] = [
  // Whether a state that was set twice has its old value again
  [
    ',!r.__f)){r.__f=!0;var c=r.shouldComponentUpdate;r.shouldComponentUpdate=' +
      'function(n,t,r){var u=this.__H;if(!u)return!0;var i=!1,f=this.props!=n;' +
      'if(u.__.some(function(n){n.__N&&(i=!0,o(n.__[0],n.__N[0])||(f=!0))}),c){' +
      'var e=c.call(this,n,t,r);return i?e||f:e}return!i||f}}return f.__}',
    '));return f.__}',
  ],
  // Ids
  ['a.__=function(n,t){n&&t.__k&&t.__k.__m&&(n.__m=t.__k.__m),p&&p(n,t)},', ''],
  // Other users of the same options
  [',v&&v(n)}', '}'],
  ['l&&l(n),', ''],
  ['m&&m(n);', ''],
  [',h&&h(n,t)}', '}'],
  ['s&&s(n);', ''],
];

/** The plugin of the build that replaces these texts. */
export const leanPreact: Plugin = {
  name: 'lean-preact',
  enforce: 'pre',
  transform(code, id) {
    const name = id.replace(/^.*\/preact\//, '');
    const cuts = { 'dist/preact.mjs': CUTS, 'hooks/dist/hooks.mjs': HOOK_CUTS }[name];
    if (cuts === undefined) return undefined;
    let lean = code;
    for (const [text, instead] of cuts) {
      if (lean.split(text).length !== 2) this.error(`Preact has changed: ${text}`);
      lean = lean.replace(text, () => instead);
    }
    return { code: lean, map: null };
  },
};
